"""The package can be imported and names its version."""

import << cookiecutter.package_name >>


def test_version_has_three_numbers() -> None:
    numbers = << cookiecutter.package_name >>.__version__.split(".")
    assert len(numbers) == 3
    assert all(number.isdigit() for number in numbers)
