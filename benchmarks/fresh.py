"""What is said first of fresh subjects: wrong NMFs that were written after the rules were frozen.

`python benchmarks/fresh.py 16` runs set 16, or `16 n03 n07` some of it: a quarter of a minute each.
`benchmarks/fresh/README.md` has what is wrong with each, and what was said when it was first asked.
"""

import re
import sys
from pathlib import Path

from nmfcheck import check
from nmfcheck.diagnosis import Cause
from nmfcheck.errors import SubjectError

FOLDER = Path(__file__).parent / "fresh"
USUAL = (Cause.NORMAL, Cause.INEXACT)


def main() -> None:
    number, *names = sys.argv[1:] or ["16"]
    path = FOLDER / f"set_{number}.py"
    listed = re.findall(r"^(?:def|class) (n\d\d)\b", path.read_text(), flags=re.MULTILINE)
    for name in names or listed:
        try:
            report = check(f"py:{path}:{name}")
        except SubjectError as error:
            print(f"{name}  NOT RUN  {error}\n", flush=True)
            continue
        findings = [f for f in report.findings if f.cause not in USUAL]
        sentence = findings[0].sentence if findings else "nothing"
        print(f"{name}  {report.decision}  {sentence}\n", flush=True)


if __name__ == "__main__":
    main()
