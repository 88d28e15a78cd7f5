-- Limits of resellers that differ from the server's defaults. Null: the default; 0: no limit.
CREATE TABLE reseller_limits (
  account INTEGER PRIMARY KEY REFERENCES users (account),
  rate_limit TEXT CHECK (length(rate_limit) BETWEEN 1 AND 9),
  orders_per_minute INTEGER CHECK (orders_per_minute >= 0),
  spend_per_day_micros INTEGER CHECK (spend_per_day_micros >= 0),
  spend_per_month_micros INTEGER CHECK (spend_per_month_micros >= 0),
  open_orders INTEGER CHECK (open_orders >= 0)
) STRICT;

-- What resellers with limits have used of them, in the UTC minute, day and month of their last order.
CREATE TABLE limit_use (
  account INTEGER PRIMARY KEY REFERENCES users (account),
  minute INTEGER NOT NULL,
  day INTEGER NOT NULL,
  month INTEGER NOT NULL,
  minute_orders INTEGER NOT NULL CHECK (minute_orders >= 0),
  -- Charges less refunds of the account when the day and the month began.
  day_start_micros INTEGER NOT NULL CHECK (day_start_micros >= 0),
  month_start_micros INTEGER NOT NULL CHECK (month_start_micros >= 0),
  -- The open orders, or more. Null: not counted.
  open_orders INTEGER CHECK (open_orders >= 0)
) STRICT;
