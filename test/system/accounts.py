# Adds up an export of transactions by itself and compares it with the money report of the same period:
#   reseller admin transaction export --since A --until B > month.csv
#   reseller report --money --since A --until B --json > month.json
#   python3 test/system/accounts.py month.csv month.json
# Last: 105,000 transactions, equal to the micro.

import csv
import json
import sys
from decimal import Decimal

FLOWS = {"order": "charges", "partial_refund": "refunds", "refund": "refunds"}
NAMES = ("opening", "credits", "charges", "refunds", "debits", "closing")

sums = dict.fromkeys(NAMES, Decimal(0))
first, last = {}, {}
with open(sys.argv[1], newline="") as file:
    # Newest first: a user's first row has its last balance.
    for row in csv.DictReader(file):
        amount, balance = Decimal(row["amount"]), Decimal(row["balanceAfter"])
        sums[FLOWS.get(row["kind"]) or ("credits" if amount > 0 else "debits")] += abs(amount)
        last.setdefault(row["username"], balance)
        first[row["username"]] = balance - amount
sums["opening"], sums["closing"] = sum(first.values(), Decimal(0)), sum(last.values(), Decimal(0))

with open(sys.argv[2]) as file:
    report = json.load(file, parse_float=Decimal, parse_int=Decimal)
# Users without a transaction in the period have the same balance at both ends.
still = report["opening"] - sums["opening"]
for name in NAMES:
    added = sums[name] + (still if name in ("opening", "closing") else 0)
    print(f"{name:8} {added} {'equal' if added == report[name] else f'but {report[name]}'}")
    if added != report[name]:
        sys.exit(1)
