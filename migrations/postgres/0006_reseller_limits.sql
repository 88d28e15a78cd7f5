-- Limits of resellers that differ from the server's defaults. Null: the default; 0: no limit.
CREATE TABLE reseller_limits (
  account bigint PRIMARY KEY REFERENCES users (account),
  rate_limit text COLLATE "C" CHECK (length(rate_limit) BETWEEN 1 AND 9),
  orders_per_minute bigint CHECK (orders_per_minute >= 0),
  spend_per_day_micros bigint CHECK (spend_per_day_micros >= 0),
  spend_per_month_micros bigint CHECK (spend_per_month_micros >= 0),
  open_orders bigint CHECK (open_orders >= 0)
);

-- What resellers with limits have used of them, in the UTC minute, day and month of their last order.
CREATE TABLE limit_use (
  account bigint PRIMARY KEY REFERENCES users (account),
  minute bigint NOT NULL,
  day bigint NOT NULL,
  month bigint NOT NULL,
  minute_orders bigint NOT NULL CHECK (minute_orders >= 0),
  -- Charges less refunds of the account when the day and the month began.
  day_start_micros bigint NOT NULL CHECK (day_start_micros >= 0),
  month_start_micros bigint NOT NULL CHECK (month_start_micros >= 0),
  -- The open orders, or more. Null: not counted.
  open_orders bigint CHECK (open_orders >= 0)
);
