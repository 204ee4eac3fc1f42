"""The package << cookiecutter.package_name >>."""

__version__ = "0.1.0"
