-- Orders may wait until a provider has funds. The check of paused_by changes, for which the table is made anew.
CREATE TABLE providers_new (
  provider_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL COLLATE NOCASE UNIQUE CHECK (length(name) BETWEEN 1 AND 64),
  protocol TEXT NOT NULL,
  url TEXT NOT NULL CHECK (url LIKE 'http://%' OR url LIKE 'https://%'),
  key TEXT NOT NULL CHECK (length(key) >= 1),
  -- When a call last succeeded.
  last_success_at INTEGER,
  -- Since when the provider refuses orders for lack of funds. Null again once it accepts one.
  out_of_funds_at INTEGER,
  created_at INTEGER NOT NULL,
  -- US dollars for one unit of the provider's currency.
  rate_to_usd TEXT NOT NULL DEFAULT '1' CHECK (length(rate_to_usd) BETWEEN 1 AND 40),
  -- Null: unknown.
  currency TEXT CHECK (length(currency) BETWEEN 2 AND 8),
  -- A currency that the provider charged in although it is not its own. Null again once the operator has settled it.
  foreign_currency TEXT CHECK (length(foreign_currency) BETWEEN 2 AND 8),
  -- Whether the provider gets orders.
  active INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
  -- Percent, as a decimal number. Null: not set, so no sync sells at cost by mistake.
  markup TEXT CHECK (length(markup) >= 1),
  -- Milliseconds between scheduled syncs. Null: none are scheduled.
  sync_every INTEGER CHECK (sync_every > 0 AND (sync_every IS NULL OR markup IS NOT NULL)),
  -- What a scheduled sync may do without being asked: change a price by this many percent, deactivate this many
  -- services.
  sync_price_limit TEXT NOT NULL DEFAULT '20' CHECK (length(sync_price_limit) >= 1),
  sync_deactivation_limit INTEGER NOT NULL DEFAULT 10 CHECK (sync_deactivation_limit >= 0),
  -- What happens to services that are not in the catalogue yet.
  sync_new TEXT NOT NULL DEFAULT 'public' CHECK (sync_new IN ('public', 'private', 'ignore')),
  -- Whether new services get ids made from their names.
  readable_ids INTEGER NOT NULL DEFAULT 0 CHECK (readable_ids IN (0, 1)),
  -- The last sync, applied or not, and why the last scheduled one was not applied.
  synced_at INTEGER,
  sync_held TEXT CHECK (length(sync_held) >= 1),
  -- The operator is alerted below this balance, in the provider's currency.
  low_balance_micros INTEGER CHECK (low_balance_micros > 0),
  -- Our balance at the provider when it last told it.
  balance_micros INTEGER,
  balance_currency TEXT,
  balance_at INTEGER CHECK ((balance_at IS NULL) = (balance_micros IS NULL)),
  -- When the provider was last asked for the balance, whether it replied or not.
  balance_asked_at INTEGER,
  -- Unknown outcomes since the last reply that said whether an order was taken.
  unknown_in_row INTEGER NOT NULL DEFAULT 0 CHECK (unknown_in_row >= 0),
  -- Since when submissions wait: after too many unknown outcomes in a row, by the operator, or for lack of funds.
  -- Null: they do not wait.
  paused_at INTEGER,
  paused_by TEXT CHECK (
    (paused_by IS NULL) = (paused_at IS NULL) AND (paused_by IN ('unknown', 'operator', 'funds') OR paused_by IS NULL)
  ),
  -- How often the balance was asked for during the pause. The next question comes later each time.
  pause_asks INTEGER NOT NULL DEFAULT 0 CHECK (pause_asks >= 0),
  -- When a pause by the operator ends by itself. Null: when the operator resumes the provider.
  paused_until INTEGER CHECK (paused_until IS NULL OR paused_by = 'operator'),
  -- What happens to an order that the provider refuses for lack of funds: it is refunded, or waits for a top-up.
  on_no_funds TEXT NOT NULL DEFAULT 'refund' CHECK (on_no_funds IN ('refund', 'hold')),
  -- How long after its creation an order waits, and how much the charges of all that wait may be together.
  hold_ms INTEGER NOT NULL DEFAULT 86400000 CHECK (hold_ms > 0),
  hold_limit_micros INTEGER NOT NULL DEFAULT 500000000 CHECK (hold_limit_micros > 0),
  -- When orders last stopped waiting for funds. Null: never.
  held_until INTEGER
) STRICT;
INSERT INTO providers_new SELECT *, 'refund', 86400000, 500000000, NULL FROM providers;
DROP TABLE providers;
ALTER TABLE providers_new RENAME TO providers;

CREATE TRIGGER providers_attempted BEFORE DELETE ON providers
WHEN EXISTS (SELECT 1 FROM attempts WHERE provider_id = OLD.provider_id)
BEGIN SELECT RAISE(ABORT, 'attempts refer to the provider'); END;
