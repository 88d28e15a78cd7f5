-- Our balances at providers, as they changed: evidence about unknown orders. Deleted after a month.
CREATE TABLE provider_balances (
  provider_id bigint NOT NULL REFERENCES providers (provider_id) ON DELETE CASCADE,
  at bigint NOT NULL,
  balance_micros bigint NOT NULL,
  currency text COLLATE "C" CHECK (length(currency) >= 1),
  PRIMARY KEY (provider_id, at)
);
