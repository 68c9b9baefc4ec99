#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks a SARIF log by the rules of the standard, version 2.1.0, that apply to it,
and prints a line per result: rule, level, kind, uri, event.

    sarif.py FILE
"""
import json
import re
import sys

LEVELS = {"none", "note", "warning", "error"}
KINDS = {"pass", "open", "informational", "notApplicable", "review", "fail"}
URI = re.compile(r"([a-z][a-z0-9+.-]*:)?(//)?([A-Za-z0-9._~/-]|%[0-9A-F]{2})+")


def members(what, of, required, allowed):
    assert isinstance(of, dict), what
    assert set(required) <= set(of) <= set(required) | set(allowed), \
        (what, sorted(of))


def message(what, of):
    members(what, of, ["text"], [])
    assert isinstance(of["text"], str) and of["text"], what


def location(of):
    members("location", of, [], ["physicalLocation", "logicalLocations"])
    physical = of["physicalLocation"]
    members("physicalLocation", physical, ["artifactLocation"], [])
    members("artifactLocation", physical["artifactLocation"], ["uri"], [])
    uri = physical["artifactLocation"]["uri"]
    assert URI.fullmatch(uri), uri
    names = []
    for logical in of.get("logicalLocations", []):
        members("logicalLocation", logical, ["fullyQualifiedName"], ["kind"])
        names.append(logical["fullyQualifiedName"])
    return uri, names


def result(of, rules):
    members("result", of, ["message"],
            ["ruleId", "ruleIndex", "level", "kind", "locations"])
    message("result", of["message"])
    kind, level = of.get("kind", "fail"), of.get("level", "warning")
    assert kind in KINDS and level in LEVELS, (kind, level)
    # 3.27.10: only a result of kind fail has a level
    assert kind == "fail" or level == "none", of
    assert rules[of["ruleIndex"]]["id"] == of["ruleId"], of
    places = [location(x) for x in of["locations"]]
    print("\t".join([of["ruleId"], level, kind, places[0][0]] + places[0][1]))


def main():
    with open(sys.argv[1], "rb") as f:
        log = json.loads(f.read().decode("utf-8"))
    members("log", log, ["version", "runs"], ["$schema"])
    assert log["version"] == "2.1.0"
    for run in log["runs"]:
        members("run", run, ["tool"], ["results"])
        members("tool", run["tool"], ["driver"], [])
        driver = run["tool"]["driver"]
        members("driver", driver, ["name"], ["rules"])
        rules = driver["rules"]
        for rule in rules:
            members("rule", rule, ["id"],
                    ["shortDescription", "help", "defaultConfiguration"])
            message("shortDescription", rule["shortDescription"])
            if "help" in rule:
                message("help", rule["help"])
            assert rule["defaultConfiguration"]["level"] in LEVELS
        # 3.19.23: a list without equal elements
        assert len({r["id"] for r in rules}) == len(rules)
        for r in run["results"]:
            result(r, rules)


if __name__ == "__main__":
    main()
