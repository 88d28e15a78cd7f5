-- Limits of keys that recharge. Null: no limit.
ALTER TABLE keys ADD COLUMN recharge_limit_micros bigint
  CHECK (recharge_limit_micros IS NULL OR (recharge_limit_micros > 0 AND type <> 'order'));
ALTER TABLE keys ADD COLUMN recharge_daily_micros bigint
  CHECK (recharge_daily_micros IS NULL OR (recharge_daily_micros > 0 AND type <> 'order'));
-- The first of the keys that were rotated to this one: their recharges of a day count together. Null: this key is the first.
ALTER TABLE keys ADD COLUMN origin_id text COLLATE "C" REFERENCES keys (id);
-- When a recharge was first refused on the last day with a refusal. Null: never since the limits were last changed.
ALTER TABLE keys ADD COLUMN recharge_refused_at bigint;

CREATE INDEX keys_recharge_refused ON keys (recharge_refused_at) WHERE recharge_refused_at IS NOT NULL;

-- What keys recharged on each UTC day, from this migration on. The day is the number of days since 1970.
CREATE TABLE key_recharges (
  key_id text COLLATE "C" NOT NULL REFERENCES keys (id),
  day bigint NOT NULL,
  recharged_micros bigint NOT NULL CHECK (recharged_micros > 0),
  PRIMARY KEY (key_id, day)
);
