# Adds up the exports of a month by itself and compares them with what the program reports:
#   reseller admin transaction export --since A --until B > transactions.csv
#   reseller report --money --since A --until B --json > money.json
#   reseller admin payment list --csv > payments.csv
#   reseller admin invoice export > invoices.csv
#   reseller admin user list --csv > users.csv
#   python3 test/system/accounts.py FOLDER_OF_THE_FILES MONTH
# Without the last three files only the money report is compared. Invoices must be for each month: `--for month`, and every
# credit of a reseller invoiced. test/system/month.ts makes such a month.

import csv
import json
import sys
from collections import defaultdict
from decimal import Decimal
from pathlib import Path

FLOWS = {"order": "charges", "partial_refund": "refunds", "refund": "refunds"}
NAMES = ("opening", "credits", "charges", "refunds", "debits", "closing")
PAYMENTS = {"payment": "credit", "payment_bonus": "bonus", "payment_reversal": "debited"}

folder, month = Path(sys.argv[1]), sys.argv[2]
wrong = []


def rows(name):
    with open(folder / f"{name}.csv", newline="") as file:
        yield from csv.DictReader(file)


def compare(what, added, reported):
    if added != reported:
        wrong.append(what)
        print(f"{what}: {added}, but {reported}")


sums = dict.fromkeys(NAMES, Decimal(0))
kinds, counts = defaultdict(Decimal), defaultdict(int)
credits, by_payment = defaultdict(Decimal), defaultdict(Decimal)
first, last, lines = {}, {}, 0
# Newest first: a user's first row has its last balance.
for row in rows("transactions"):
    lines += 1
    amount, balance, kind, user = Decimal(row["amount"]), Decimal(row["balanceAfter"]), row["kind"], row["username"]
    if user in first:
        compare(f"transaction {row['seq']}: balance after", balance, first[user])
    flow = FLOWS.get(kind) or ("credits" if amount > 0 else "debits")
    sums[flow] += abs(amount)
    kinds[flow, kind] += abs(amount)
    counts[flow, kind] += 1
    last.setdefault(user, balance)
    first[user] = balance - amount
    if kind in ("recharge", "payment") or (kind == "adjustment" and amount > 0):
        credits[user] += amount
    if kind in PAYMENTS:
        by_payment[row["note"].removeprefix("payment "), kind] += abs(amount)
sums["opening"], sums["closing"] = sum(first.values(), Decimal(0)), sum(last.values(), Decimal(0))

with open(folder / "money.json") as file:
    report = json.load(file, parse_float=Decimal, parse_int=Decimal)
# Users without a transaction in the period have the same balance at both ends.
still = report["opening"] - sums["opening"]
for name in NAMES:
    added = sums[name] + (still if name in ("opening", "closing") else 0)
    compare(name, added, report[name])
    print(f"{name:8} {added}")
reported, times = defaultdict(Decimal), defaultdict(int)
methods = defaultdict(Decimal)
for line in report["lines"]:
    flow = {"credit": "credits", "charge": "charges", "refund": "refunds", "debit": "debits"}[line["flow"]]
    reported[flow, line["kind"]] += line["amount"]
    times[flow, line["kind"]] += int(line["transfers"])
    if line["kind"] in PAYMENTS:
        methods[line["source"], line["kind"]] += line["amount"]
compare("amounts by kind", dict(kinds), dict(reported))
compare("numbers by kind", dict(counts), dict(times))
for (flow, kind), added in sorted(kinds.items()):
    print(f"  {flow}, {kind}: {counts[flow, kind]} of {added}")

if (folder / "payments.csv").exists():
    paid, received, found = defaultdict(Decimal), defaultdict(Decimal), set()
    for row in rows("payments"):
        for kind, column in PAYMENTS.items():
            moved = by_payment.get((row["id"], kind), Decimal(0))
            if moved:
                paid[row["method"], kind] += moved
                found.add((row["id"], kind))
                if kind != "payment_reversal":
                    compare(f"payment {row['id']}: {column}", moved, Decimal(row[column]))
        if row["paidAt"].startswith(month):
            received[row["method"], row["receivedCurrency"]] += Decimal(row["received"])
    compare("received", dict(received), {(each["method"], each["currency"]): each["amount"] for each in report["received"]})
    compare("transactions of payments that are not listed", set(by_payment) - found, set())
    compare("payments by method", dict(paid), dict(methods))
    for (method, currency), amount in sorted(received.items()):
        print(f"  received by {method}: {amount} {currency}")
    print(f"payments {len({each for each, _ in found})}")

if (folder / "invoices.csv").exists():
    children = {row["username"] for row in rows("users") if row["parent"]}
    invoiced, numbers = defaultdict(Decimal), []
    for row in rows("invoices"):
        numbers.append(row["number"])
        if row["month"] == month and row["kind"] == "invoice":
            invoiced[row["username"]] += Decimal(row["total"])
            compare(f"invoice {row['number']}: net and tax", Decimal(row["net"]) + Decimal(row["tax"]), Decimal(row["total"]))
    own = {user: amount for user, amount in credits.items() if user not in children}
    compare("invoices by reseller", dict(invoiced), own)
    compare("numbers of invoices", sorted(map(int, numbers)), list(range(1, len(numbers) + 1)))
    print(f"invoices {len(numbers)}, of {month} {sum(invoiced.values(), Decimal(0))}")

print(f"{lines} transactions: {'all equal' if not wrong else f'{len(wrong)} differences'}")
sys.exit(1 if wrong else 0)
