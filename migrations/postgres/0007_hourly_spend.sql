-- Charges and refunds of each reseller in the last hours (hours since 1970 in UTC), counted with daily_totals. Test
-- orders are not counted.
CREATE TABLE hourly_spend (
  hour bigint NOT NULL,
  account bigint NOT NULL,
  charged_micros bigint NOT NULL,
  refunded_micros bigint NOT NULL,
  PRIMARY KEY (hour, account)
);
