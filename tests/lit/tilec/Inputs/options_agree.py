"""Every option that `tilec help COMMAND` lists is in the manual page and in the completions of each
shell, and these have no others. usage: options_agree.py TILEC"""

import re
import subprocess
import sys


def tilec(*words):
    return subprocess.run([sys.argv[1], *words], check=True, capture_output=True, text=True).stdout


def options_in(text):
    return set(re.findall(r"--([a-z][a-z-]*)", text))


page = tilec("help", "--man").replace("\\-", "-")
sections = {}
for section in page.split(".SS tilec ")[1:]:
    sections[section.split()[0]] = section
fish = tilec("completion", "fish").splitlines()
bash, zsh = options_in(tilec("completion", "bash")), options_in(tilec("completion", "zsh"))

problems, count = [], 0
commands = re.findall(r"^  ([a-z]+) ", tilec("help").split("Commands:")[1].split("\n\n")[0], re.M)
for command in commands:
    listed = set(re.findall(r"^  (?:-[A-Za-z], )?--([a-z-]+)", tilec("help", command), re.M))
    count += len(listed)
    of_fish = {name for line in fish if f"from {command}'" in line
               for name in re.findall(r" -l ([a-z-]+)", line)}
    for name in sorted(listed):
        for where, there in (("fish", of_fish), ("bash", bash), ("zsh", zsh),
                             ("the manual page", options_in(sections.get(command, "")))):
            if name not in there:
                problems.append(f"{command} --{name} is not in {where}")
    for name in sorted(of_fish - listed):
        problems.append(f"{command} --{name} of fish is not in the help")
for problem in problems:
    print(problem)
print(f"{len(commands)} commands, {count} options")
sys.exit(bool(problems))
