-- What was moved on each day (days since 1970 in UTC), counted with daily_totals from transfers. `source` of a credit or debit:
-- `key ID` or `operator NAME`; else empty. Test accounts are not counted.
CREATE TABLE money_totals (
  day bigint NOT NULL,
  flow text COLLATE "C" NOT NULL CHECK (flow IN ('credit', 'debit', 'charge', 'refund')),
  kind text COLLATE "C" NOT NULL,
  source text COLLATE "C" NOT NULL,
  transfers bigint NOT NULL,
  amount_micros bigint NOT NULL,
  PRIMARY KEY (day, flow, kind, source)
);

INSERT INTO money_totals (day, flow, kind, source, transfers, amount_micros)
SELECT created_at / 86400000,
  CASE WHEN debit_account = 1 THEN 'credit' WHEN credit_account = 1 THEN 'debit'
    WHEN credit_account = 2 THEN 'charge' ELSE 'refund' END AS flow,
  kind, CASE WHEN order_id IS NOT NULL THEN '' WHEN key_id IS NOT NULL THEN 'key ' || key_id
    ELSE coalesce('operator ' || operator, '') END AS source,
  count(*), CAST(sum(amount_micros) AS bigint)
FROM transfers
WHERE debit_account > 0 AND credit_account > 0 AND seq <= (SELECT transfers FROM totals_position)
GROUP BY 1, 2, 3, 4;
