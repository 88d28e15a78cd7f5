-- Users whose webhooks subscribe to `*` get the bit for all event types, those of later versions included.

UPDATE users SET wanted_events = wanted_events | (1::bigint << 30)
WHERE account IN (
  SELECT reseller_account FROM webhooks
  WHERE deleted_at IS NULL AND events LIKE '*%' AND (active = 1 OR disabled_reason IN ('failures', 'gone'))
);
