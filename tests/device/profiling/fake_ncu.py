"""A stand-in for Nsight Compute, for tests: started as `ncu`, it does what the environment variable FAKE_NCU says and
writes its arguments down. Its table has three launches, with made-up numbers in the format of Nsight Compute 2025."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

SAMPLE = Path(__file__).with_name("sample.log")
DEVICE = {"name": "NVIDIA H200", "arch": "sm_90"}


def main(arguments: list[str]) -> int:
    if arguments == ["--version"]:
        print(
            os.environ.get("FAKE_VERSION", "NVIDIA (R) Nsight Compute\nVersion 2025.3.1.0 (build 1) (public-release)")
        )
        return 0
    with Path(os.environ["FAKE_ARGUMENTS"]).open("a") as file:
        file.write(json.dumps(arguments) + "\n")
    log = Path(arguments[arguments.index("--log-file") + 1])
    asked = arguments[arguments.index("--metrics") + 1].split(",")
    program = arguments[arguments.index("--metrics") + 2 :]
    question, answer = (Path(path) for path in program[4:6])
    match os.environ.get("FAKE_NCU", "table"):
        case "table":
            answer.write_text(json.dumps(DEVICE))
            log.write_text(SAMPLE.read_text())
        case "lacking":  # names one counter by an expression and, once that is gone, two in a list
            answer.write_text(json.dumps(DEVICE))
            if "lts__t_sector_hit_rate.pct" in asked:
                log.write_text("==ERROR== Failed to find metric regex:^lts__t_sector_hit_rate\\.(sum|pct)$\n")
                return 1
            two = ["l1tex__t_sector_hit_rate.pct", "dram__throughput.avg.pct_of_peak_sustained_elapsed"]
            if two[0] in asked:
                log.write_text(f"==ERROR== Failed to access the following 2 metrics: {', '.join(two)}\n")
                return 1
            log.write_text(SAMPLE.read_text())
        case "busy":  # the first time
            if len(Path(os.environ["FAKE_ARGUMENTS"]).read_text().splitlines()) == 1:
                log.write_text(
                    "==ERROR== An error was reported by the counter measurement library:\n==ERROR== LaunchFailed\n"
                )
                return 9
            answer.write_text(json.dumps(DEVICE))
            log.write_text(SAMPLE.read_text())
        case "others":
            answer.write_text(json.dumps(DEVICE))
            log.write_text(SAMPLE.read_text().replace('"wmma"', '"reset"'))
        case "program":
            return subprocess.run(program, check=False).returncode
        case "hangs":
            subprocess.run([sys.executable, "-c", "import time; time.sleep(600)"], check=False)
        case "subject":
            subject = pickle.loads(question.read_bytes())
            log.write_text("==ERROR== saw " + " ".join([*subject.alone, *subject.fused.entries]) + "\n")
            return 3
        case "problem":
            answer.write_text(json.dumps({"problem": "the driver answers 700", "input": False}))
            log.write_text("==ERROR== Failed to profile `gelu`\n==WARNING== No kernels were profiled\n")
            return 9
        case text:
            log.write_text(text)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
