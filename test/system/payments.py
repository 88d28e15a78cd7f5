# Adds up a month of payments by itself, from what banks and payment programs say that they received, and compares it with
# what was exported:
#   reseller admin payment method list --json > methods.json
#   reseller admin payment list --csv --since A --until B > payments.csv
#   reseller admin transaction export --since A --until B > transactions.csv
#   reseller report --money --since A --until B --json > month.json
#   python3 test/system/payments.py FOLDER
# statement.csv in the same folder: payment,amount,currency,returned, one line for each payment that was received.
# Last: 360 payments of three methods, equal to the micro.

import csv
import json
import sys
from collections import Counter, defaultdict
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from pathlib import Path

CENT, MICRO = Decimal("0.01"), Decimal("0.000001")
KINDS = ("payment", "payment_bonus", "payment_reversal")
folder = Path(sys.argv[1])


def table(name):
    with open(folder / name, newline="") as file:
        return list(csv.DictReader(file))


def document(name):
    with open(folder / name) as file:
        return json.load(file, parse_float=Decimal, parse_int=Decimal)


def fee(method, amount):
    return (Decimal(method["feeFixed"]) + amount * method["fee"] / 100).quantize(CENT, ROUND_CEILING)


def credit(method, asked, received):
    """What an amount in the method's currency credits, and its bonus."""
    base = received
    if method["feeBy"] == "customer" and received != asked + fee(method, asked):
        guess = (received - Decimal(method["feeFixed"])) / (1 + method["fee"] / 100) + CENT
        base = max(Decimal(0), guess).quantize(CENT, ROUND_FLOOR)
        while base > 0 and base + fee(method, base) > received:
            base -= CENT
    elif method["feeBy"] == "customer":
        base = asked
    credited = (base * Decimal(method["rateToUsd"])).quantize(MICRO, ROUND_FLOOR)
    steps = [step.split("=") for step in method["bonus"].split(",") if step]
    percent = max((Decimal(p) for least, p in steps if base >= Decimal(least)), default=Decimal(0))
    return credited, (credited * percent / 100).quantize(MICRO, ROUND_FLOOR)


methods = {method["id"]: method for method in document("methods.json")}
payments = {payment["id"]: payment for payment in table("payments.csv")}
received = {line["payment"]: line for line in table("statement.csv")}
moved = defaultdict(lambda: defaultdict(list))
for row in table("transactions.csv"):
    if row["kind"] in KINDS:
        moved[row["note"].removeprefix("payment ")][row["kind"]].append(abs(Decimal(row["amount"])))

wrong = []
totals = Counter()
for name in {*payments, *received, *moved}:
    payment, line, sums = payments.get(name), received.get(name), moved[name]
    if payment is None:
        wrong.append(f"{name}: no such payment")
        continue
    method = methods[payment["method"]]
    for kind in KINDS:
        totals[kind, method["id"]] += sum(sums[kind])
    if line is None:
        if any(sums.values()):
            wrong.append(f"{name}: credited, and nothing was received")
        continue
    amount, returned = Decimal(line["amount"]), Decimal(line["returned"])
    if (Decimal(payment["received"]), payment["receivedCurrency"]) != (amount, line["currency"]):
        wrong.append(f"{name}: received {payment['received']}, not {amount}")
    if Decimal(payment["refunded"]) + Decimal(payment["disputed"]) != returned:
        wrong.append(f"{name}: {returned} was given back")
    if line["currency"] == method["currency"]:
        expected = credit(method, Decimal(payment["asked"]), amount)
    else:
        # The operator has said what other money is worth.
        expected = Decimal(payment["credit"]), Decimal(0)
    if sums["payment"] != [expected[0]] or sum(sums["payment_bonus"]) != expected[1]:
        wrong.append(f"{name}: {amount} credited {dict(sums)}, not {expected}")
    if sum(sums["payment_reversal"]) != Decimal(payment["debited"]):
        wrong.append(f"{name}: debited {sums['payment_reversal']}")
for line in document("month.json")["lines"]:
    if line["kind"] in KINDS:
        totals[line["kind"], line["source"]] -= line["amount"]
wrong += [f"{kind} by {method}: {left} more than reported" for (kind, method), left in totals.items() if left]

print(*sorted(wrong), f"{len(payments)} payments, {len(received)} received, {len(wrong)} wrong", sep="\n")
sys.exit(1 if wrong else 0)
