-- Charges and refunds of each reseller in the last hours (hours since 1970 in UTC), counted with daily_totals. Test
-- orders are not counted.
CREATE TABLE hourly_spend (
  hour INTEGER NOT NULL,
  account INTEGER NOT NULL,
  charged_micros INTEGER NOT NULL,
  refunded_micros INTEGER NOT NULL,
  PRIMARY KEY (hour, account)
) STRICT, WITHOUT ROWID;
