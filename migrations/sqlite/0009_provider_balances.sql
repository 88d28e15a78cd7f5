-- Our balances at providers, as they changed: evidence about unknown orders. Deleted after a month.
CREATE TABLE provider_balances (
  provider_id INTEGER NOT NULL REFERENCES providers (provider_id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  balance_micros INTEGER NOT NULL,
  currency TEXT CHECK (length(currency) >= 1),
  PRIMARY KEY (provider_id, at)
) STRICT, WITHOUT ROWID;
