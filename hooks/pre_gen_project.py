"""Refuse answers that make no working project: every error at once, and one corrected command.

This file is rendered before it runs. No answer can become code: JSON inside a raw string that has no
apostrophe cannot end the string, and the text below must not hold the template's delimiters.
"""

import json
import keyword
import re
import shlex
import sys
from pathlib import Path

ANSWERS = r'''<< cookiecutter | jsonify | replace("'", "\\u0027") >>'''  # fmt: skip
PROMPTS = [
    "project_name",
    "project_slug",
    "package_name",
    "description",
    "author",
    "license",
    "sample_program",
    "ci",
]
FREE_TEXT = ("project_name", "description", "author")
LONGEST = 200
DELIMITER = r"<[#%<]|[#%>]>"
TAKEN = {"corpus", "oracle", "pytest", "sealed", "sitecustomize", "src", "tests", "tools", "usercustomize"}


def package_error(name: str) -> str:
    """Why a name cannot be the package's, or nothing."""
    if not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name) or keyword.iskeyword(name):
        return "is no package name: letters, digits and _, not a keyword"
    if name.lower() in TAKEN or name in sys.stdlib_module_names:
        return "is taken by the standard library, a tool or a folder of the scaffold"
    return ""


def check(answers: dict[str, str]) -> tuple[list[str], dict[str, str]]:
    """The errors, and what to answer instead."""
    errors, better = [], {}
    slug, package = answers["project_slug"], answers["package_name"]
    if not re.fullmatch("[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?", slug) or ".." in slug:
        errors.append(f"project_slug {slug!r} is no plain folder name: letters, digits, dashes, dots")
        better["project_slug"] = re.sub("[^a-z0-9]+", "-", slug.lower())[:60].strip("-") or "replay-demo"
    if reason := package_error(package):
        errors.append(f"package_name {package!r} {reason}")
        better["package_name"] = f"app_{re.sub('[^a-z0-9]+', '_', package.lower())}".rstrip("_")
    for key in FREE_TEXT:
        text = answers[key]
        if not text.strip() or not text.isprintable() or len(text) > LONGEST or re.search(DELIMITER, text):
            errors.append(f"{key} is empty, too long, or holds control characters or template delimiters")
            plain = "".join(c if c.isprintable() else " " for c in re.sub(DELIMITER, " ", text))
            better[key] = " ".join(plain.split())[:LONGEST] or key.replace("_", " ")
    for key in (key for key in answers if key.startswith("__")):
        stem, _, suffix = key[2:].rpartition("_")
        if answers[key].replace("-", "_") not in ("", f"{stem}.{suffix}"):
            errors.append(f"{key} is a file name of the template: do not set it")
    if any(path.name != ".git" for path in Path.cwd().iterdir()):
        errors.append(f"{Path.cwd()} is not empty: bake into a new folder and copy from there what you want")
        better.setdefault("project_slug", f"{slug}-new")
    return errors, better


def main() -> int:
    if not ANSWERS.startswith("{"):
        print("replay-oracle: upgrade cookiecutter: this template needs 2.6 or newer", file=sys.stderr)
        return 1
    answers = json.loads(ANSWERS)
    errors, better = check(answers)
    for error in errors:
        print(f"replay-oracle: {error}", file=sys.stderr)
    if errors:
        checkout = ["--checkout", answers["_checkout"]] if answers.get("_checkout") else []
        fields = [f"{key}={better.get(key, answers[key])}" for key in PROMPTS]
        command = ["cookiecutter", *checkout, "--output-dir", answers["_output_dir"], answers["_template"]]
        print(f"replay-oracle: to go on: {shlex.join([*command, *fields])}", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
