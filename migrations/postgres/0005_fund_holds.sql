-- Orders may wait until a provider has funds.
ALTER TABLE providers DROP CONSTRAINT providers_check2;
ALTER TABLE providers ADD CONSTRAINT providers_check2 CHECK (
  (paused_by IS NULL) = (paused_at IS NULL) AND (paused_by IN ('unknown', 'operator', 'funds') OR paused_by IS NULL)
);
-- What happens to an order that the provider refuses for lack of funds: it is refunded, or waits for a top-up.
ALTER TABLE providers ADD COLUMN on_no_funds text COLLATE "C" NOT NULL DEFAULT 'refund'
  CHECK (on_no_funds IN ('refund', 'hold'));
-- How long after its creation an order waits, and how much the charges of all that wait may be together.
ALTER TABLE providers ADD COLUMN hold_ms bigint NOT NULL DEFAULT 86400000 CHECK (hold_ms > 0);
ALTER TABLE providers ADD COLUMN hold_limit_micros bigint NOT NULL DEFAULT 500000000 CHECK (hold_limit_micros > 0);
-- When orders last stopped waiting for funds. Null: never.
ALTER TABLE providers ADD COLUMN held_until bigint;
