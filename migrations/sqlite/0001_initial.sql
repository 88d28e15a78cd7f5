-- The schema on SQLite. migrations/postgres/ has the same tables with the same rules. Amounts are integers in micros,
-- times are milliseconds since 1970, booleans are 0 and 1. src/db/tables/ describes the columns for the program.
--
-- Conditions of tables that every order writes are chains of OR: SQLite builds a temporary table for each IN list of
-- more than two values, at every row that it checks.


-- Accounts --

-- The accounts of the ledger. Account 1 is cash, account 2 is sales, and every user has one above 2. Accounts -1 and -2
-- are the cash and the sales of test orders.
CREATE TABLE accounts (
  account INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('cash', 'sales', 'user'))
) STRICT;

INSERT INTO accounts (account, kind) VALUES (1, 'cash'), (2, 'sales'), (-1, 'cash'), (-2, 'sales');


-- Users --

-- A reseller has no parent. The parent of a child user is a reseller.
CREATE TABLE users (
  account INTEGER PRIMARY KEY REFERENCES accounts (account),
  id TEXT NOT NULL UNIQUE CHECK (length(id) = 24),
  username TEXT NOT NULL COLLATE NOCASE UNIQUE CHECK (length(username) BETWEEN 1 AND 64),
  name TEXT NOT NULL,
  parent_account INTEGER REFERENCES users (account),
  -- A cache of the ledger: written only together with a transfer.
  balance_micros INTEGER NOT NULL DEFAULT 0,
  -- Credits from cash minus debits to cash. The balance never exceeds it, so no refund exceeds 64 bits.
  deposited_micros INTEGER NOT NULL DEFAULT 0 CHECK (deposited_micros BETWEEN 0 AND 9000000000000000000),
  created_at INTEGER NOT NULL,
  -- The event types that the account's endpoints want, as bits, and the highest of their balance thresholds. So a
  -- command knows without reading endpoints that it has no event to write.
  wanted_events INTEGER NOT NULL DEFAULT 0 CHECK (wanted_events >= 0),
  low_balance_micros INTEGER CHECK (low_balance_micros > 0),
  -- The account whose test account this is. Null: not a test account.
  test_of INTEGER REFERENCES users (account),
  -- The keys of an inactive user are inactive. The user, its balance and its orders stay.
  active INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
  -- When the user's personal data was erased. Only then the triggers below allow texts to be removed from rows that
  -- otherwise never change: links, texts, references and notes. A migration that adds a column to such a table adds it
  -- to the trigger.
  erased_at INTEGER CHECK (erased_at IS NULL OR active = 0),
  -- The reseller's discount in millionths of the price.
  discount_ppm INTEGER NOT NULL DEFAULT 0 CHECK (discount_ppm BETWEEN 0 AND 1000000),
  CHECK (balance_micros BETWEEN 0 AND deposited_micros)
) STRICT;

CREATE INDEX users_by_parent ON users (parent_account) WHERE parent_account IS NOT NULL;
CREATE UNIQUE INDEX users_by_test_of ON users (test_of) WHERE test_of IS NOT NULL;

CREATE TRIGGER users_parent_is_reseller BEFORE INSERT ON users
WHEN NEW.parent_account IS NOT NULL
  AND (SELECT parent_account IS NOT NULL FROM users WHERE account = NEW.parent_account)
BEGIN SELECT RAISE(ABORT, 'the parent of a child user must be a reseller'); END;

CREATE TRIGGER users_keep_identity BEFORE UPDATE OF account, id, parent_account ON users
BEGIN SELECT RAISE(ABORT, 'a user keeps its account, id and parent'); END;

CREATE TRIGGER users_are_kept BEFORE DELETE ON users
BEGIN SELECT RAISE(ABORT, 'users are never deleted'); END;

CREATE TRIGGER users_test_of_a_user BEFORE INSERT ON users
WHEN NEW.test_of IS NOT NULL
  AND (NEW.parent_account IS NOT NULL OR (SELECT test_of IS NOT NULL FROM users WHERE account = NEW.test_of))
BEGIN SELECT RAISE(ABORT, 'a test account is that of a user, and has no parent'); END;

CREATE TRIGGER users_keep_side BEFORE UPDATE OF test_of ON users
BEGIN SELECT RAISE(ABORT, 'a test account stays one'); END;

CREATE TRIGGER users_stay_erased BEFORE UPDATE OF erased_at, active, username, name ON users
WHEN OLD.erased_at IS NOT NULL AND (NEW.erased_at IS NOT OLD.erased_at OR NEW.active <> OLD.active
  OR NEW.username <> OLD.username OR NEW.name <> OLD.name)
BEGIN SELECT RAISE(ABORT, 'a user stays erased'); END;

CREATE TRIGGER users_discounted AFTER UPDATE OF discount_ppm ON users WHEN NEW.discount_ppm <> OLD.discount_ppm
BEGIN UPDATE catalogue_version SET version = version + 1; END;

-- Only a key's SHA-256 is stored, and its first characters to recognise it by.
CREATE TABLE keys (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 24),
  reseller_account INTEGER NOT NULL REFERENCES users (account),
  hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
  start TEXT NOT NULL CHECK (length(start) <= 8),
  type TEXT NOT NULL CHECK (type IN ('order', 'recharge', 'full')),
  reach TEXT NOT NULL CHECK (reach IN ('all', 'children')),
  label TEXT NOT NULL DEFAULT '',
  active INTEGER NOT NULL CHECK (active IN (0, 1)),
  created_at INTEGER NOT NULL,
  -- From this time on the key is refused. Null: never.
  expires_at INTEGER CHECK (expires_at >= created_at),
  -- Networks in CIDR notation, separated by commas. Empty: every address.
  allow TEXT NOT NULL DEFAULT '',
  -- Written at most once a minute.
  last_used_at INTEGER,
  -- The key that replaced this one, which works until expires_at.
  replaced_by TEXT REFERENCES keys (id),
  -- The key is known to have expired, so setting the clock back does not revive it. Activating it does.
  ended INTEGER NOT NULL DEFAULT 0 CHECK (ended IN (0, 1)),
  -- test_of of the account, so that a request does not need to read a second row.
  test_of INTEGER REFERENCES users (account),
  -- Inactive because the user is. The key is activated together with the user.
  suspended INTEGER NOT NULL DEFAULT 0
    CHECK (suspended IN (0, 1) AND (suspended = 0 OR active = 0)),
  -- The address that used the key last.
  last_address TEXT CHECK (length(last_address) BETWEEN 1 AND 64),
  -- Limits for one recharge and for a day. Null: no limit.
  recharge_limit_micros INTEGER
    CHECK (recharge_limit_micros IS NULL OR (recharge_limit_micros > 0 AND type <> 'order')),
  recharge_daily_micros INTEGER
    CHECK (recharge_daily_micros IS NULL OR (recharge_daily_micros > 0 AND type <> 'order')),
  -- The first of the keys that were rotated to this one: their recharges of a day count together. Null: this is the
  -- first.
  origin_id TEXT REFERENCES keys (id),
  -- When the first recharge was refused on the last day with a refusal. Null: none since the limits were changed.
  recharge_refused_at INTEGER
) STRICT;

CREATE INDEX keys_by_reseller ON keys (reseller_account);
CREATE INDEX keys_recharge_refused ON keys (recharge_refused_at) WHERE recharge_refused_at IS NOT NULL;

CREATE TRIGGER keys_belong_to_resellers BEFORE INSERT ON keys
WHEN (SELECT parent_account IS NOT NULL FROM users WHERE account = NEW.reseller_account)
BEGIN SELECT RAISE(ABORT, 'a key belongs to a reseller, never to a child user'); END;

CREATE TRIGGER keys_have_their_accounts_side BEFORE INSERT ON keys
WHEN NEW.test_of IS NOT (SELECT test_of FROM users WHERE account = NEW.reseller_account)
BEGIN SELECT RAISE(ABORT, 'a test key belongs to a test account, any other to none'); END;

CREATE TRIGGER keys_keep_side BEFORE UPDATE OF reseller_account, test_of ON keys
BEGIN SELECT RAISE(ABORT, 'a key keeps its account'); END;

-- What keys recharged on each UTC day. The day is the number of days since 1970.
CREATE TABLE key_recharges (
  key_id TEXT NOT NULL REFERENCES keys (id),
  day INTEGER NOT NULL,
  recharged_micros INTEGER NOT NULL CHECK (recharged_micros > 0),
  PRIMARY KEY (key_id, day)
) STRICT;


-- Providers --

-- Keys of providers are stored in clear, only here, because each call sends them.
CREATE TABLE providers (
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
  -- Since when submissions wait: after too many unknown outcomes in a row, or by the operator. Null: they do not wait.
  paused_at INTEGER,
  paused_by TEXT CHECK (
    (paused_by IS NULL) = (paused_at IS NULL) AND (paused_by = 'unknown' OR paused_by = 'operator' OR paused_by IS NULL)
  ),
  -- How often the balance was asked for during the pause. The next question comes later each time.
  pause_asks INTEGER NOT NULL DEFAULT 0 CHECK (pause_asks >= 0)
) STRICT;

-- The provider that delivers test orders, inside the server. No operator can name it: names of providers have no colon.
INSERT INTO providers (provider_id, name, protocol, url, key, created_at)
VALUES (0, 'test:sandbox', 'sandbox', 'https://sandbox.invalid', 'none', 0);

CREATE TRIGGER providers_attempted BEFORE DELETE ON providers
WHEN EXISTS (SELECT 1 FROM attempts WHERE provider_id = OLD.provider_id)
BEGIN SELECT RAISE(ABORT, 'attempts refer to the provider'); END;

-- A provider's rate for a service, from a sync. It applies to orders with numbers above after_order, up to the
-- after_order of the next row: numbers only grow, unlike times.
CREATE TABLE provider_rates (
  provider_id INTEGER NOT NULL REFERENCES providers (provider_id) ON DELETE CASCADE,
  provider_service TEXT NOT NULL CHECK (length(provider_service) BETWEEN 1 AND 64),
  after_order INTEGER NOT NULL CHECK (after_order >= 0),
  rate TEXT NOT NULL CHECK (length(rate) >= 1),
  unit TEXT NOT NULL CHECK (unit IN ('1000', 'order')),
  created_at INTEGER NOT NULL,
  dripfeed INTEGER NOT NULL CHECK (dripfeed IN (0, 1)),
  PRIMARY KEY (provider_id, provider_service, after_order)
) STRICT, WITHOUT ROWID;


-- Catalogue --

-- A service with a provider is delivered by it. A service without one is delivered by hand.
CREATE TABLE services (
  number INTEGER PRIMARY KEY CHECK (number BETWEEN 1 AND 9007199254740991),
  id TEXT NOT NULL UNIQUE CHECK (length(id) BETWEEN 1 AND 64),
  name TEXT NOT NULL CHECK (length(name) >= 1),
  category TEXT NOT NULL DEFAULT 'Services' CHECK (length(category) >= 1),
  price_micros INTEGER NOT NULL CHECK (price_micros BETWEEN 0 AND 9007199254740991),
  per TEXT NOT NULL CHECK (per IN ('1000', '1', 'order')),
  min INTEGER NOT NULL CHECK (min >= 1),
  max INTEGER NOT NULL CHECK (max <= 1000000000),
  active INTEGER NOT NULL CHECK (active IN (0, 1)),
  private INTEGER NOT NULL CHECK (private IN (0, 1)),
  created_at INTEGER NOT NULL,
  provider_id INTEGER REFERENCES providers (provider_id),
  provider_service TEXT CHECK ((provider_service IS NULL) = (provider_id IS NULL)),
  -- The priority of the first route. Lower ones are tried first.
  provider_priority INTEGER NOT NULL DEFAULT 0 CHECK (provider_priority BETWEEN 0 AND 1000000),
  -- Fields that the operator set. A sync does not change them.
  name_by_hand INTEGER NOT NULL DEFAULT 1 CHECK (name_by_hand IN (0, 1)),
  category_by_hand INTEGER NOT NULL DEFAULT 0 CHECK (category_by_hand IN (0, 1)),
  price_by_hand INTEGER NOT NULL DEFAULT 1 CHECK (price_by_hand IN (0, 1)),
  min_by_hand INTEGER NOT NULL DEFAULT 1 CHECK (min_by_hand IN (0, 1)),
  max_by_hand INTEGER NOT NULL DEFAULT 1 CHECK (max_by_hand IN (0, 1)),
  -- Deactivated by a sync, because the provider no longer lists it. The sync that finds it again activates it.
  delisted INTEGER NOT NULL DEFAULT 0 CHECK (delisted IN (0, 1) AND (delisted = 0 OR active = 0)),
  -- Whether orders can be cancelled and refilled, and for how many days after their end.
  cancel INTEGER NOT NULL DEFAULT 0 CHECK (cancel IN (0, 1)),
  refill INTEGER NOT NULL DEFAULT 0 CHECK (refill IN (0, 1)),
  refill_days INTEGER NOT NULL DEFAULT 30 CHECK (refill_days BETWEEN 1 AND 3650),
  cancel_by_hand INTEGER NOT NULL DEFAULT 0 CHECK (cancel_by_hand IN (0, 1)),
  refill_by_hand INTEGER NOT NULL DEFAULT 0 CHECK (refill_by_hand IN (0, 1)),
  -- Which fields its orders take besides the link, and how they are charged.
  type TEXT NOT NULL DEFAULT 'default' CHECK (
    type IN (
      'default', 'package', 'custom_comments', 'custom_comments_package', 'seo', 'mentions_with_hashtags',
      'mentions_custom_list', 'mentions_hashtag', 'mentions_user_followers', 'mentions_media_likers', 'comment_likes',
      'comment_replies', 'poll', 'invites_from_groups', 'web_traffic'
    )
    -- A package has one price, whatever is in it. What is counted is sold by units.
    AND (type = 'default' OR (type IN ('package', 'custom_comments_package')) = (per = 'order'))
  ),
  dripfeed INTEGER NOT NULL DEFAULT 0 CHECK (
    dripfeed IN (0, 1) AND (dripfeed = 0 OR (type = 'default' AND per <> 'order'))
  ),
  type_by_hand INTEGER NOT NULL DEFAULT 0 CHECK (type_by_hand IN (0, 1)),
  dripfeed_by_hand INTEGER NOT NULL DEFAULT 0 CHECK (dripfeed_by_hand IN (0, 1)),
  -- Inactive because its provider is. It is activated together with the provider.
  suspended INTEGER NOT NULL DEFAULT 0
    CHECK (suspended IN (0, 1) AND (suspended = 0 OR active = 0)),
  -- The provider of the first route no longer lists it. The service is deactivated only if no other route is left.
  route_delisted INTEGER NOT NULL DEFAULT 0 CHECK (route_delisted IN (0, 1)),
  CHECK (min <= max)
) STRICT;

CREATE INDEX services_by_name ON services (name, id);
CREATE INDEX services_by_provider ON services (provider_id, provider_service) WHERE provider_id IS NOT NULL;
CREATE INDEX services_route_delisted ON services (provider_id) WHERE route_delisted = 1;

CREATE TRIGGER services_added AFTER INSERT ON services
BEGIN UPDATE catalogue_version SET version = version + 1; END;

CREATE TRIGGER services_changed
AFTER UPDATE OF id, name, category, price_micros, per, min, max, active, private ON services
BEGIN UPDATE catalogue_version SET version = version + 1; END;

CREATE TRIGGER services_removed AFTER DELETE ON services
BEGIN UPDATE catalogue_version SET version = version + 1; END;

CREATE TRIGGER services_keep_number BEFORE UPDATE OF number ON services WHEN NEW.number <> OLD.number
BEGIN SELECT RAISE(ABORT, 'a service keeps its number'); END;

CREATE TRIGGER services_type_changed AFTER UPDATE OF type, dripfeed ON services
BEGIN UPDATE catalogue_version SET version = version + 1; END;

CREATE TRIGGER services_requests_changed AFTER UPDATE OF cancel, refill, refill_days ON services
BEGIN UPDATE catalogue_version SET version = version + 1; END;

-- A service that was never ordered can be deleted. Its number is not given again.
CREATE TRIGGER services_give_numbers_once AFTER DELETE ON services
BEGIN
  INSERT INTO number_floors (table_name, floor) VALUES ('services', OLD.number)
  ON CONFLICT (table_name) DO UPDATE SET floor = OLD.number WHERE floor < OLD.number;
END;

-- The routes of a service after the first. They are deleted with the service. A provider that has routes is kept.
CREATE TABLE service_routes (
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  provider_id INTEGER NOT NULL REFERENCES providers (provider_id) CHECK (provider_id > 0),
  -- The id of the service at this provider.
  provider_service TEXT NOT NULL CHECK (length(provider_service) >= 1),
  priority INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 1000000),
  -- The order in which routes are tried, from 1.
  place INTEGER NOT NULL CHECK (place >= 1),
  -- The provider no longer lists it.
  delisted INTEGER NOT NULL DEFAULT 0 CHECK (delisted IN (0, 1)),
  PRIMARY KEY (service_id, provider_id, provider_service)
) STRICT, WITHOUT ROWID;

CREATE INDEX service_routes_by_provider ON service_routes (provider_id, provider_service);
CREATE INDEX service_routes_delisted ON service_routes (provider_id) WHERE delisted = 1;

-- Opens a private service to a reseller, gives the reseller a price of its own, or both.
CREATE TABLE grants (
  service_id TEXT NOT NULL REFERENCES services (id),
  reseller_account INTEGER NOT NULL REFERENCES users (account),
  price_micros INTEGER CHECK (price_micros BETWEEN 0 AND 9007199254740991),
  created_at INTEGER NOT NULL,
  PRIMARY KEY (service_id, reseller_account)
) STRICT, WITHOUT ROWID;

CREATE INDEX grants_by_reseller ON grants (reseller_account);

CREATE TRIGGER grants_added AFTER INSERT ON grants
BEGIN UPDATE catalogue_version SET version = version + 1; END;

CREATE TRIGGER grants_changed AFTER UPDATE OF service_id, reseller_account, price_micros ON grants
BEGIN UPDATE catalogue_version SET version = version + 1; END;

CREATE TRIGGER grants_removed AFTER DELETE ON grants
BEGIN UPDATE catalogue_version SET version = version + 1; END;

-- Changes of services, grants and discounts, for the feed of resellers. A change is one row, however many resellers
-- there are: what it means for a reseller is computed when the reseller asks.
CREATE TABLE service_changes (
  seq INTEGER PRIMARY KEY CHECK (seq BETWEEN 1 AND 1000000000000000),
  at INTEGER NOT NULL,
  -- Null: the discount of the reseller.
  service_id TEXT CHECK (length(service_id) BETWEEN 1 AND 64),
  -- Null: a change of the service itself. Otherwise of what this reseller has.
  reseller_account INTEGER REFERENCES users (account),
  -- The service's terms as JSON. Null: the service did not exist, or does not exist any more.
  before TEXT,
  after TEXT,
  -- The reseller's own terms as JSON.
  own_before TEXT,
  own_after TEXT,
  CHECK ((service_id IS NULL) = (before IS NULL AND after IS NULL)),
  CHECK (service_id IS NOT NULL OR reseller_account IS NOT NULL),
  CHECK ((reseller_account IS NULL) = (own_before IS NULL) AND (reseller_account IS NULL) = (own_after IS NULL))
) STRICT;

CREATE INDEX service_changes_by_reseller ON service_changes (reseller_account, service_id, seq)
  WHERE reseller_account IS NOT NULL;
CREATE INDEX service_changes_by_discount ON service_changes (reseller_account, seq) WHERE reseller_account IS NOT NULL;
CREATE INDEX service_changes_by_service ON service_changes (service_id, seq) WHERE reseller_account IS NULL;

CREATE TRIGGER service_changes_are_kept BEFORE UPDATE ON service_changes
BEGIN SELECT RAISE(ABORT, 'what changed is never changed'); END;

CREATE TRIGGER service_changes_stay BEFORE DELETE ON service_changes
BEGIN SELECT RAISE(ABORT, 'what changed is never deleted'); END;

-- Grows with every change of what GET /services shows or to whom, in the transaction of the change. Lists that were
-- made from the same version are still right.
CREATE TABLE catalogue_version (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  version INTEGER NOT NULL
) STRICT;

INSERT INTO catalogue_version (id, version) VALUES (1, 1);


-- Orders --

-- An order keeps the terms it was sold on: later changes of its service do not change it.
CREATE TABLE orders (
  order_id INTEGER PRIMARY KEY CHECK (order_id > 0),
  id TEXT NOT NULL UNIQUE CHECK (length(id) = 24),
  reseller_account INTEGER NOT NULL REFERENCES users (account),
  service_id TEXT NOT NULL REFERENCES services (id),
  service_name TEXT NOT NULL,
  price_micros INTEGER NOT NULL CHECK (price_micros >= 0),
  per TEXT NOT NULL CHECK (per = '1000' OR per = '1' OR per = 'order'),
  link TEXT NOT NULL CHECK (length(link) >= 1),
  quantity INTEGER NOT NULL CHECK (quantity BETWEEN 1 AND 1000000000),
  charge_micros INTEGER NOT NULL CHECK (charge_micros >= 0),
  refunded_micros INTEGER NOT NULL DEFAULT 0 CHECK (refunded_micros BETWEEN 0 AND charge_micros),
  status TEXT NOT NULL CHECK (
    status = 'PROCESSING' OR status = 'PENDING' OR status = 'COMPLETED' OR status = 'PARTIAL'
    OR status = 'FAILED' OR status = 'CANCELLED' OR status = 'REFUNDED'
  ),
  start_count INTEGER NOT NULL DEFAULT 0 CHECK (start_count >= 0),
  remains INTEGER NOT NULL CHECK (remains BETWEEN 0 AND quantity),
  created_at INTEGER NOT NULL,
  provider_id INTEGER REFERENCES providers (provider_id),
  provider_service TEXT CHECK ((provider_service IS NULL) = (provider_id IS NULL)),
  placement TEXT NOT NULL DEFAULT 'manual' CHECK (
    (
      placement = 'manual' OR placement = 'queued' OR placement = 'sending' OR placement = 'placed'
      OR placement = 'refused' OR placement = 'expired' OR placement = 'unknown'
    )
    AND (placement = 'manual') = (provider_id IS NULL)
    AND (status <> 'PENDING' OR placement = 'queued' OR placement = 'sending' OR placement = 'unknown')
    AND (placement <> 'sending' OR status = 'PENDING')
    AND (placement NOT IN ('queued', 'unknown') OR status IN ('PENDING', 'CANCELLED'))
    AND (placement NOT IN ('refused', 'expired') OR status = 'FAILED')
  ),
  provider_order TEXT CHECK ((provider_order IS NOT NULL) = (placement = 'placed')),
  -- The status that the provider reported last, as one of ours.
  reported TEXT CHECK (reported IS NULL OR placement = 'placed'),
  next_submit_at INTEGER CHECK ((next_submit_at IS NOT NULL) = (placement = 'queued' AND status = 'PENDING')),
  next_poll_at INTEGER CHECK (
    (next_poll_at IS NULL OR placement = 'placed')
    AND (next_poll_at IS NOT NULL OR placement <> 'placed' OR status <> 'PROCESSING')
  ),
  -- When the provider last reported the order, and when such a report last said something new.
  polled_at INTEGER CHECK ((polled_at IS NOT NULL) = (placement = 'placed')),
  changed_at INTEGER CHECK ((changed_at IS NOT NULL) = (placement = 'placed')),
  -- The caller's own name for the order.
  reference TEXT CHECK (length(reference) BETWEEN 1 AND 64),
  -- How many events the order has had, delivered to an endpoint or not.
  sequence INTEGER NOT NULL DEFAULT 0,
  -- The type that the order was sold as and its fields, as JSON. Null: only a link and a quantity.
  extra TEXT CHECK (extra IS NULL OR extra LIKE '{"type":"%}'),
  CHECK (refunded_micros = charge_micros OR (status <> 'FAILED' AND status <> 'CANCELLED' AND status <> 'REFUNDED')),
  CHECK (refunded_micros = 0 OR (status <> 'PENDING' AND status <> 'PROCESSING' AND status <> 'COMPLETED'))
) STRICT;

CREATE UNIQUE INDEX orders_by_reference ON orders (reseller_account, reference) WHERE reference IS NOT NULL;
CREATE INDEX orders_by_status ON orders (reseller_account, status, order_id);
CREATE INDEX orders_queued ON orders (provider_id, next_submit_at, order_id)
  WHERE placement = 'queued' AND status = 'PENDING';
CREATE INDEX orders_sending ON orders (order_id) WHERE placement = 'sending';
CREATE INDEX orders_unknown ON orders (order_id) WHERE placement = 'unknown' AND status = 'PENDING';
CREATE INDEX orders_polled ON orders (provider_id, next_poll_at) WHERE next_poll_at IS NOT NULL;
CREATE INDEX orders_by_provider_order ON orders (provider_id, provider_order) WHERE provider_order IS NOT NULL;
CREATE INDEX orders_open_by_provider ON orders (provider_id, placement, polled_at)
  WHERE provider_id IS NOT NULL AND status IN ('PENDING', 'PROCESSING');

-- A final order's status never changes. Its delivery may still be recorded.
CREATE TRIGGER orders_final BEFORE UPDATE OF status ON orders
WHEN NEW.status <> OLD.status AND (OLD.status = 'FAILED' OR OLD.status = 'CANCELLED' OR OLD.status = 'REFUNDED')
BEGIN SELECT RAISE(ABORT, 'FAILED, CANCELLED and REFUNDED are final'); END;

-- What was sent, or may have been sent, is never queued again.
CREATE TRIGGER orders_placement_moves BEFORE UPDATE OF placement ON orders
WHEN OLD.placement <> NEW.placement AND NOT (
  (OLD.placement = 'queued' AND NEW.placement IN ('sending', 'expired'))
  OR (OLD.placement = 'sending' AND NEW.placement IN ('queued', 'placed', 'refused', 'unknown'))
  OR (OLD.placement = 'unknown' AND NEW.placement IN ('placed', 'refused'))
)
BEGIN SELECT RAISE(ABORT, 'a placement cannot move that way'); END;

CREATE TRIGGER orders_are_kept BEFORE DELETE ON orders
BEGIN SELECT RAISE(ABORT, 'orders are never deleted'); END;

CREATE TRIGGER orders_note_clock_step AFTER INSERT ON orders
WHEN NEW.created_at < (SELECT created_at FROM orders WHERE order_id < NEW.order_id ORDER BY order_id DESC LIMIT 1)
BEGIN
  INSERT INTO clock_steps SELECT 'orders', NEW.order_id, NEW.created_at, created_at
  FROM orders WHERE order_id < NEW.order_id ORDER BY order_id DESC LIMIT 1;
END;

-- An order that goes to another provider takes its revenue along. It has no refund and no cost, because it is not
-- placed.
CREATE TRIGGER orders_keep_totals AFTER UPDATE OF provider_id ON orders
WHEN NEW.provider_id IS NOT OLD.provider_id AND NEW.order_id <= (SELECT orders FROM totals_position)
BEGIN
  UPDATE daily_totals SET orders = orders - 1, revenue_micros = revenue_micros - NEW.charge_micros
  WHERE kind = 'provider' AND day = NEW.created_at / 86400000 AND key = coalesce(CAST(OLD.provider_id AS TEXT), '');
  INSERT INTO daily_totals (kind, day, key, orders, revenue_micros, refunds_micros, cost_micros)
  VALUES ('provider', NEW.created_at / 86400000, coalesce(CAST(NEW.provider_id AS TEXT), ''), 1, NEW.charge_micros, 0, 0)
  ON CONFLICT (kind, day, key) DO UPDATE SET orders = orders + 1, revenue_micros = revenue_micros + excluded.revenue_micros;
END;

CREATE TRIGGER orders_keep_link BEFORE UPDATE OF link ON orders
WHEN NEW.link <> 'erased' OR OLD.status IN ('PENDING', 'PROCESSING')
  OR (SELECT erased_at FROM users WHERE account = OLD.reseller_account) IS NULL
BEGIN SELECT RAISE(ABORT, 'an order keeps the terms it was placed on'); END;

CREATE TRIGGER orders_keep_reference BEFORE UPDATE OF reference ON orders
WHEN NEW.reference IS NOT NULL OR (SELECT erased_at FROM users WHERE account = OLD.reseller_account) IS NULL
BEGIN SELECT RAISE(ABORT, 'an order keeps its reference'); END;

-- An erasure keeps the fields. It replaces each text, except the type and empty ones, by as many lines 'erased' as it
-- has.
CREATE TRIGGER orders_keep_extra BEFORE UPDATE OF extra ON orders
WHEN OLD.status IN ('PENDING', 'PROCESSING') OR OLD.extra IS NULL OR NEW.extra IS NULL
  OR (SELECT erased_at FROM users WHERE account = OLD.reseller_account) IS NULL
  OR (SELECT count(*) FROM json_each(NEW.extra)) <> (SELECT count(*) FROM json_each(OLD.extra))
  OR EXISTS (SELECT 1 FROM json_each(OLD.extra) AS kept LEFT JOIN json_each(NEW.extra) AS made ON made.key = kept.key
    WHERE made.value IS NOT CASE WHEN kept.type <> 'text' OR kept.key = 'type' OR kept.value = '' THEN kept.value
      ELSE 'erased' || replace(hex(zeroblob(length(kept.value) - length(replace(kept.value, char(10), '')))), '00',
        char(10) || 'erased') END)
BEGIN SELECT RAISE(ABORT, 'an order keeps the terms it was placed on'); END;

CREATE TRIGGER orders_keep_terms
BEFORE UPDATE OF order_id, id, reseller_account, service_id, service_name, price_micros, per, quantity,
  charge_micros, created_at ON orders
BEGIN SELECT RAISE(ABORT, 'an order keeps the terms it was placed on'); END;

-- An order may go to another provider while it waits to be sent, or after an attempt that did not place it. Never to or
-- from the sandbox, which is provider 0.
CREATE TRIGGER orders_change_provider_unsent BEFORE UPDATE OF provider_id, provider_service ON orders
WHEN (NEW.provider_id IS NOT OLD.provider_id OR NEW.provider_service IS NOT OLD.provider_service) AND NOT (
  OLD.status = 'PENDING' AND NEW.placement = 'queued' AND (OLD.placement = 'sending' OR OLD.placement = 'queued')
  AND coalesce(OLD.provider_id, 0) > 0 AND coalesce(NEW.provider_id, 0) > 0
)
BEGIN SELECT RAISE(ABORT, 'an order changes its provider only while it is not sent'); END;

-- A number that the operator entered can be corrected until the provider reports.
CREATE TRIGGER orders_keep_provider_order BEFORE UPDATE OF provider_order ON orders
WHEN OLD.provider_order IS NOT NULL AND NEW.provider_order IS NOT OLD.provider_order
  AND (OLD.reported IS NOT NULL OR OLD.status <> 'PROCESSING')
BEGIN SELECT RAISE(ABORT, 'an order keeps the number its provider gave it'); END;

-- Changes of an order's status after its creation: when, from what, to what, by whom, why.
CREATE TABLE order_events (
  seq INTEGER PRIMARY KEY,
  order_id INTEGER NOT NULL REFERENCES orders (order_id),
  from_status TEXT NOT NULL,
  to_status TEXT NOT NULL,
  key_id TEXT REFERENCES keys (id),
  operator TEXT,
  note TEXT,
  created_at INTEGER NOT NULL,
  CHECK (key_id IS NULL OR operator IS NULL)
) STRICT;

CREATE INDEX order_events_by_order ON order_events (order_id, seq);

CREATE TRIGGER order_events_append_only_delete BEFORE DELETE ON order_events
BEGIN SELECT RAISE(ABORT, 'order events are append-only'); END;

CREATE TRIGGER order_events_append_only_update BEFORE UPDATE ON order_events
WHEN NEW.note IS NOT NULL OR NEW.seq <> OLD.seq OR NEW.order_id <> OLD.order_id OR NEW.from_status <> OLD.from_status
  OR NEW.to_status <> OLD.to_status OR NEW.key_id IS NOT OLD.key_id OR NEW.operator IS NOT OLD.operator
  OR NEW.created_at <> OLD.created_at
  OR (SELECT erased_at FROM orders JOIN users ON account = reseller_account WHERE order_id = OLD.order_id) IS NULL
BEGIN SELECT RAISE(ABORT, 'order events are append-only'); END;

-- What a provider reported for an order that had already ended here. Listed for the operator, never applied by itself.
CREATE TABLE late_reports (
  order_id INTEGER NOT NULL REFERENCES orders (order_id),
  reported TEXT NOT NULL,
  status TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  -- The remaining quantity of a PARTIAL.
  remains INTEGER CHECK (remains >= 0),
  -- What the operator decided.
  decision TEXT CHECK (decision IN ('accepted', 'dismissed')),
  decided_at INTEGER CHECK ((decided_at IS NULL) = (decision IS NULL)),
  PRIMARY KEY (order_id, reported)
) STRICT, WITHOUT ROWID;

CREATE INDEX late_reports_open ON late_reports (order_id) WHERE decision IS NULL;

-- Requests of resellers for their orders: to cancel one, or to refill what was lost. Money moves with the order's
-- status, not with the request.
CREATE TABLE order_requests (
  request_id INTEGER PRIMARY KEY CHECK (request_id BETWEEN 1 AND 9007199254740991),
  id TEXT NOT NULL UNIQUE CHECK (length(id) = 24),
  order_id INTEGER NOT NULL REFERENCES orders (order_id),
  reseller_account INTEGER NOT NULL REFERENCES users (account),
  kind TEXT NOT NULL CHECK (kind = 'cancel' OR kind = 'refill'),
  -- `sent` is committed before the call to the provider.
  state TEXT NOT NULL CHECK (
    state = 'requested' OR state = 'sent' OR state = 'accepted' OR state = 'declined' OR state = 'done'
  ),
  -- Who decides. Null: the operator.
  provider_id INTEGER REFERENCES providers (provider_id),
  -- Sent with an unknown outcome. It is never sent again, and the operator settles it.
  unknown INTEGER NOT NULL DEFAULT 0 CHECK (unknown IN (0, 1) AND (unknown = 0 OR state = 'sent')),
  -- The server that is sending it.
  server TEXT CHECK (server IS NULL OR (state = 'sent' AND unknown = 0)),
  -- The provider's number for the refill.
  provider_refill TEXT CHECK (provider_refill IS NULL OR kind = 'refill'),
  -- When it is sent, or when the provider is asked for the state of the refill.
  next_at INTEGER CHECK (
    next_at IS NULL
    OR (provider_id IS NOT NULL AND (state = 'requested' OR (state = 'accepted' AND provider_refill IS NOT NULL)))
  ),
  -- How often it was certainly not sent.
  tries INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0),
  -- The reason, for the operator, with the provider's key masked.
  note TEXT,
  key_id TEXT NOT NULL REFERENCES keys (id),
  created_at INTEGER NOT NULL,
  -- When it may have been sent.
  sent_at INTEGER CHECK (sent_at IS NULL OR provider_id IS NOT NULL),
  changed_at INTEGER NOT NULL,
  CHECK (state <> 'requested' OR (sent_at IS NULL AND (provider_id IS NULL) = (next_at IS NULL))),
  CHECK (state <> 'sent' OR sent_at IS NOT NULL)
) STRICT;

-- One open request of each kind for an order.
CREATE UNIQUE INDEX order_requests_open ON order_requests (order_id, kind)
  WHERE state = 'requested' OR state = 'sent' OR state = 'accepted';
CREATE INDEX order_requests_by_order ON order_requests (order_id, request_id);
CREATE INDEX order_requests_due ON order_requests (provider_id, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX order_requests_listed ON order_requests (request_id)
  WHERE state = 'requested' OR state = 'sent' OR state = 'accepted';

CREATE TRIGGER order_requests_keep_identity
BEFORE UPDATE OF request_id, id, order_id, reseller_account, kind, key_id, created_at ON order_requests
BEGIN SELECT RAISE(ABORT, 'a request keeps what it asks for'); END;

CREATE TRIGGER order_requests_are_kept BEFORE DELETE ON order_requests
BEGIN SELECT RAISE(ABORT, 'requests are never deleted'); END;

-- Only what was certainly not sent is sent again.
CREATE TRIGGER order_requests_go_forward BEFORE UPDATE ON order_requests
WHEN (OLD.state = 'declined' OR OLD.state = 'done'
    OR (OLD.state = 'accepted' AND (NEW.state = 'requested' OR NEW.state = 'sent'))
    OR (OLD.unknown = 1 AND (NEW.state = 'requested' OR (NEW.state = 'sent' AND NEW.unknown = 0))))
  AND NOT (NEW.note IS NULL AND NEW.state = OLD.state AND NEW.provider_id IS OLD.provider_id AND NEW.unknown = OLD.unknown
    AND NEW.server IS OLD.server AND NEW.provider_refill IS OLD.provider_refill AND NEW.next_at IS OLD.next_at
    AND NEW.tries = OLD.tries AND NEW.sent_at IS OLD.sent_at AND NEW.changed_at = OLD.changed_at
    AND (SELECT erased_at FROM users WHERE account = OLD.reseller_account) IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a request is sent once, and what became of it is kept'); END;


-- Delivery --

-- Submissions of an order to a provider. A row is committed as `sending` before the call, and finished with the
-- outcome.
CREATE TABLE attempts (
  attempt_id INTEGER PRIMARY KEY,
  order_id INTEGER NOT NULL REFERENCES orders (order_id),
  outcome TEXT NOT NULL CHECK (outcome IN ('sending', 'accepted', 'refused', 'not_sent', 'unknown')),
  -- The reason, for the operator, with the provider's key masked.
  cause TEXT,
  started_at INTEGER NOT NULL,
  finished_at INTEGER,
  -- The server that makes the attempt. If it is gone and there is no outcome, nobody knows whether the order was sent.
  server TEXT,
  -- No foreign key: providers_attempted holds it, which costs an attempt nothing.
  provider_id INTEGER NOT NULL,
  provider_service TEXT NOT NULL,
  CHECK ((outcome = 'sending') = (finished_at IS NULL))
) STRICT;

CREATE INDEX attempts_by_order ON attempts (order_id, attempt_id);
-- An order is placed at most once: another attempt can only follow refused or unsent ones.
CREATE UNIQUE INDEX attempts_sent_once ON attempts (order_id)
  WHERE outcome <> 'not_sent' AND outcome <> 'refused';
-- A provider that refused an order is not asked again.
CREATE UNIQUE INDEX attempts_refused_once ON attempts (order_id, provider_id, provider_service)
  WHERE outcome = 'refused';

CREATE TRIGGER attempts_finish_once BEFORE UPDATE ON attempts
WHEN (OLD.outcome <> 'sending' OR NEW.order_id <> OLD.order_id OR NEW.started_at <> OLD.started_at)
  AND NOT (NEW.cause IS NULL AND NEW.attempt_id = OLD.attempt_id AND NEW.order_id = OLD.order_id
    AND NEW.outcome = OLD.outcome AND NEW.started_at = OLD.started_at AND NEW.finished_at IS OLD.finished_at
    AND (SELECT erased_at FROM orders JOIN users ON account = reseller_account WHERE order_id = OLD.order_id) IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'an attempt is finished once and then kept'); END;

CREATE TRIGGER attempts_keep_server BEFORE UPDATE OF server ON attempts
BEGIN SELECT RAISE(ABORT, 'an attempt keeps its server'); END;

CREATE TRIGGER attempts_keep_route BEFORE UPDATE OF provider_id, provider_service ON attempts
BEGIN SELECT RAISE(ABORT, 'an attempt keeps its provider'); END;

CREATE TRIGGER attempts_are_kept BEFORE DELETE ON attempts
BEGIN SELECT RAISE(ABORT, 'attempts are never deleted'); END;

-- Open orders whose number the provider says it does not know. A row is deleted when the provider reports the order.
CREATE TABLE unrecognized_numbers (
  order_id INTEGER PRIMARY KEY REFERENCES orders (order_id),
  provider_order TEXT NOT NULL,
  -- The provider's words, for the operator, with its key masked.
  cause TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- One row each time an order's cost becomes known or changes. Basis: `charge`, what the provider charged; `rate`, from
-- the provider's rate when it states no charge; `foreign`, a charge in a currency without a known rate, which costs 0
-- until the operator settles it.
CREATE TABLE order_costs (
  seq INTEGER PRIMARY KEY,
  order_id INTEGER NOT NULL REFERENCES orders (order_id),
  -- Counts the costs of the order from 1.
  number INTEGER NOT NULL CHECK (number >= 1),
  basis TEXT NOT NULL CHECK (basis IN ('charge', 'rate', 'foreign')),
  amount TEXT NOT NULL CHECK (length(amount) >= 1),
  currency TEXT,
  rate_to_usd TEXT NOT NULL CHECK (length(rate_to_usd) >= 1),
  -- What the order costs from now on, and how much that is more than before.
  cost_micros INTEGER NOT NULL CHECK (cost_micros BETWEEN 0 AND 9007199254740991),
  change_micros INTEGER NOT NULL CHECK (change_micros BETWEEN -9007199254740991 AND cost_micros),
  created_at INTEGER NOT NULL,
  CHECK (basis <> 'foreign' OR cost_micros = 0),
  CHECK (number > 1 OR change_micros = cost_micros)
) STRICT;

CREATE UNIQUE INDEX order_costs_by_order ON order_costs (order_id, number);
CREATE INDEX order_costs_by_time ON order_costs (created_at);
CREATE INDEX order_costs_foreign ON order_costs (order_id) WHERE basis = 'foreign';

CREATE TRIGGER order_costs_append_only_update BEFORE UPDATE ON order_costs
BEGIN SELECT RAISE(ABORT, 'costs of orders are append-only'); END;

CREATE TRIGGER order_costs_append_only_delete BEFORE DELETE ON order_costs
BEGIN SELECT RAISE(ABORT, 'costs of orders are append-only'); END;


-- Ledger --

-- The ledger. Transfers are never changed or deleted. A correction is a new transfer in the other direction.
CREATE TABLE transfers (
  seq INTEGER PRIMARY KEY,
  debit_account INTEGER NOT NULL REFERENCES accounts (account),
  credit_account INTEGER NOT NULL REFERENCES accounts (account),
  amount_micros INTEGER NOT NULL CHECK (amount_micros BETWEEN 1 AND 9007199254740991),
  kind TEXT NOT NULL,
  order_id INTEGER REFERENCES orders (order_id),
  key_id TEXT REFERENCES keys (id),
  operator TEXT,
  note TEXT,
  created_at INTEGER NOT NULL,
  -- The balance of the user on one side of the transfer. Every transfer has exactly one such side.
  balance_after_micros INTEGER NOT NULL DEFAULT 0
    CHECK (balance_after_micros BETWEEN 0 AND 9000000000000000000),
  CHECK (debit_account <> credit_account),
  CHECK (key_id IS NULL OR operator IS NULL),
  CHECK (
    (order_id IS NOT NULL AND (kind = 'order' OR kind = 'partial_refund' OR kind = 'refund'))
    OR (order_id IS NULL AND (kind = 'recharge' OR kind = 'adjustment'))
  )
) STRICT;

-- One charge, at most one partial refund and one full refund for each order.
CREATE UNIQUE INDEX transfers_once_an_order ON transfers (order_id, kind) WHERE order_id IS NOT NULL;
CREATE INDEX transfers_by_debit ON transfers (debit_account, seq) WHERE debit_account > 2;
CREATE INDEX transfers_by_credit ON transfers (credit_account, kind, seq) WHERE credit_account > 2;
CREATE INDEX transfers_by_adjustment ON transfers (debit_account, seq)
  WHERE debit_account > 2 AND kind = 'adjustment';

CREATE TRIGGER transfers_append_only_delete BEFORE DELETE ON transfers
BEGIN SELECT RAISE(ABORT, 'transfers are append-only'); END;

CREATE TRIGGER transfers_note_clock_step AFTER INSERT ON transfers
WHEN NEW.created_at < (SELECT created_at FROM transfers WHERE seq < NEW.seq ORDER BY seq DESC LIMIT 1)
BEGIN
  INSERT INTO clock_steps SELECT 'transfers', NEW.seq, NEW.created_at, created_at
  FROM transfers WHERE seq < NEW.seq ORDER BY seq DESC LIMIT 1;
END;

CREATE TRIGGER transfers_append_only_update BEFORE UPDATE ON transfers
WHEN NEW.note IS NOT NULL OR NEW.seq <> OLD.seq OR NEW.debit_account <> OLD.debit_account
  OR NEW.credit_account <> OLD.credit_account OR NEW.amount_micros <> OLD.amount_micros OR NEW.kind <> OLD.kind
  OR NEW.order_id IS NOT OLD.order_id OR NEW.key_id IS NOT OLD.key_id OR NEW.operator IS NOT OLD.operator
  OR NEW.created_at <> OLD.created_at OR NEW.balance_after_micros <> OLD.balance_after_micros
  OR NOT EXISTS (SELECT 1 FROM users
    WHERE account IN (OLD.debit_account, OLD.credit_account) AND erased_at IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'transfers are append-only'); END;

-- What only some transfers have: the operator's reference, unique for each user, and a note that the user sees. The
-- note of the transfer itself is for operators.
CREATE TABLE transfer_details (
  seq INTEGER PRIMARY KEY REFERENCES transfers (seq),
  account INTEGER NOT NULL REFERENCES users (account),
  reference TEXT CHECK (length(reference) BETWEEN 1 AND 64),
  public_note TEXT CHECK (length(public_note) >= 1),
  CHECK (reference IS NOT NULL OR public_note IS NOT NULL)
) STRICT;

CREATE UNIQUE INDEX transfer_details_by_reference ON transfer_details (account, reference) WHERE reference IS NOT NULL;

-- Except for the texts of an erased user.
CREATE TRIGGER transfer_details_append_only_update BEFORE UPDATE ON transfer_details
WHEN NEW.reference IS NOT NULL OR NEW.public_note IS NOT 'erased' OR NEW.seq <> OLD.seq OR NEW.account <> OLD.account
  OR (SELECT erased_at FROM users WHERE account = OLD.account) IS NULL
BEGIN SELECT RAISE(ABORT, 'transfers are append-only'); END;

CREATE TRIGGER transfer_details_append_only_delete BEFORE DELETE ON transfer_details
BEGIN SELECT RAISE(ABORT, 'transfers are append-only'); END;


-- Webhooks --

-- Endpoints of resellers, for events of their orders, and of the operator, for alerts. Secrets are in clear, because
-- signing needs them. A deleted endpoint has no secret. Its row is kept until its deliveries are gone.
CREATE TABLE webhooks (
  webhook_id INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE CHECK (length(id) = 24),
  -- Null: the operator.
  reseller_account INTEGER REFERENCES users (account),
  -- Of the operator's: the Telegram chat to send to. The secret is then the bot's token. Null: send to the URL.
  telegram_chat TEXT CHECK (telegram_chat IS NULL OR (length(telegram_chat) BETWEEN 1 AND 64 AND reseller_account IS NULL)),
  url TEXT NOT NULL CHECK (length(url) BETWEEN 1 AND 2048 AND (url LIKE 'http://%' OR url LIKE 'https://%')),
  -- Event types, separated by commas.
  events TEXT NOT NULL CHECK (length(events) >= 1),
  balance_low_below INTEGER CHECK (balance_low_below > 0),
  secret TEXT NOT NULL CHECK ((secret = '') = (deleted_at IS NOT NULL)),
  -- The secret before, which signs deliveries too until previous_until.
  previous_secret TEXT CHECK ((previous_secret IS NULL) = (previous_until IS NULL)),
  previous_until INTEGER,
  -- Secrets from before previous_secret, as JSON, each with the time until which it signs deliveries.
  older_secrets TEXT NOT NULL DEFAULT '[]' CHECK (length(older_secrets) >= 2),
  active INTEGER NOT NULL CHECK (active IN (0, 1)),
  disabled_reason TEXT CHECK (
    disabled_reason = 'failures' OR disabled_reason = 'gone' OR disabled_reason = 'operator' OR disabled_reason = 'owner'
  ),
  disabled_at INTEGER,
  -- How many attempts failed since the last success, and when the first of them did.
  failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
  failing_since INTEGER CHECK ((failing_since IS NULL) = (failures = 0)),
  created_at INTEGER NOT NULL,
  deleted_at INTEGER,
  CHECK ((disabled_reason IS NULL) = (active = 1) AND (disabled_at IS NULL) = (active = 1)),
  CHECK (deleted_at IS NULL OR active = 0)
) STRICT;

CREATE INDEX webhooks_by_reseller ON webhooks (reseller_account, webhook_id) WHERE deleted_at IS NULL;
CREATE INDEX webhooks_deleted ON webhooks (webhook_id) WHERE deleted_at IS NOT NULL;

CREATE TRIGGER webhooks_keep_identity
BEFORE UPDATE OF webhook_id, id, reseller_account, telegram_chat, created_at ON webhooks
BEGIN SELECT RAISE(ABORT, 'a webhook keeps its id and its reseller'); END;

CREATE TRIGGER webhooks_belong_to_resellers BEFORE INSERT ON webhooks
WHEN (SELECT parent_account IS NOT NULL FROM users WHERE account = NEW.reseller_account)
BEGIN SELECT RAISE(ABORT, 'a webhook belongs to a reseller, never to a child user'); END;

-- Written in the transaction of the change. Every attempt sends the body, byte for byte.
CREATE TABLE webhook_events (
  event_id INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE CHECK (length(id) = 28),
  -- Null: an alert.
  reseller_account INTEGER REFERENCES users (account),
  type TEXT NOT NULL CHECK (length(type) >= 1),
  order_id INTEGER REFERENCES orders (order_id),
  -- The place among the order's events.
  sequence INTEGER CHECK ((sequence IS NULL) = (order_id IS NULL) AND sequence >= 1),
  body TEXT NOT NULL CHECK (length(body) >= 2),
  created_at INTEGER NOT NULL,
  CHECK (reseller_account IS NOT NULL OR order_id IS NULL)
) STRICT;

CREATE UNIQUE INDEX webhook_events_by_order ON webhook_events (order_id, sequence) WHERE order_id IS NOT NULL;
CREATE INDEX webhook_events_by_time ON webhook_events (created_at);

CREATE TRIGGER webhook_events_are_kept BEFORE UPDATE ON webhook_events
BEGIN SELECT RAISE(ABORT, 'an event is never changed'); END;

-- The delivery of an event to an endpoint. `waiting`: due at due_at. `sending`: a server is sending it, and due_at is
-- when that lease ends and the delivery is due again.
CREATE TABLE webhook_deliveries (
  delivery_id INTEGER PRIMARY KEY,
  webhook_id INTEGER NOT NULL REFERENCES webhooks (webhook_id),
  event_id INTEGER NOT NULL REFERENCES webhook_events (event_id),
  state TEXT NOT NULL CHECK (state = 'waiting' OR state = 'sending' OR state = 'delivered' OR state = 'failed'),
  due_at INTEGER CHECK ((due_at IS NOT NULL) = (state = 'waiting' OR state = 'sending')),
  server TEXT CHECK ((server IS NOT NULL) = (state = 'sending')),
  -- Attempts that were started, replays included.
  attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  -- Failed attempts of the schedule, which ends at `tries`.
  failures INTEGER NOT NULL DEFAULT 0 CHECK (failures BETWEEN 0 AND tries),
  tries INTEGER NOT NULL CHECK (tries >= 1),
  -- A replay was asked for. It is sent to a disabled endpoint too, and does not count if it fails.
  replay INTEGER NOT NULL DEFAULT 0 CHECK (replay IN (0, 1)),
  UNIQUE (webhook_id, event_id)
) STRICT;

CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_replayed ON webhook_deliveries (webhook_id, due_at)
  WHERE due_at IS NOT NULL AND replay = 1;
CREATE INDEX webhook_deliveries_sending ON webhook_deliveries (webhook_id) WHERE state = 'sending';
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (webhook_id) WHERE state = 'failed';
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (event_id);

-- The outcome of each attempt. `error` is null after a success.
CREATE TABLE webhook_attempts (
  seq INTEGER PRIMARY KEY,
  delivery_id INTEGER NOT NULL REFERENCES webhook_deliveries (delivery_id),
  webhook_id INTEGER NOT NULL REFERENCES webhooks (webhook_id),
  attempt INTEGER NOT NULL CHECK (attempt >= 1),
  at INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL CHECK (duration_ms >= 0),
  http_status INTEGER CHECK (http_status BETWEEN 100 AND 999),
  error TEXT CHECK (length(error) >= 1),
  -- The beginning of the response's body.
  response TEXT,
  UNIQUE (delivery_id, attempt)
) STRICT;

CREATE INDEX webhook_attempts_by_webhook ON webhook_attempts (webhook_id, seq);
CREATE INDEX webhook_attempts_by_time ON webhook_attempts (at);

CREATE TRIGGER webhook_attempts_are_kept BEFORE UPDATE ON webhook_attempts
BEGIN SELECT RAISE(ABORT, 'what came of an attempt is never changed'); END;

-- Problems that the operator is told of, once at the beginning and once at the end. An open alert that becomes much
-- worse is told again.
CREATE TABLE alerts (
  seq INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (length(kind) BETWEEN 1 AND 64),
  subject TEXT NOT NULL CHECK (length(subject) >= 1),
  message TEXT NOT NULL CHECK (length(message) >= 1),
  raised_at INTEGER NOT NULL,
  -- Null: the problem goes on.
  resolved_at INTEGER,
  -- How bad it was when the operator was last notified. 0: this kind has no amount.
  notified_amount INTEGER NOT NULL DEFAULT 0 CHECK (notified_amount >= 0),
  -- When the operator was last notified. Null: when it was raised.
  notified_at INTEGER
) STRICT;

CREATE UNIQUE INDEX alerts_open ON alerts (kind, subject) WHERE resolved_at IS NULL;
CREATE INDEX alerts_resolved ON alerts (resolved_at) WHERE resolved_at IS NOT NULL;

CREATE TRIGGER alerts_end_once BEFORE UPDATE ON alerts
WHEN OLD.resolved_at IS NOT NULL OR NEW.kind <> OLD.kind OR NEW.subject <> OLD.subject OR NEW.raised_at <> OLD.raised_at
BEGIN SELECT RAISE(ABORT, 'an alert ends once, and keeps what it is about'); END;


-- Administrators --

-- People who use the panel. Names stay, because the audit log has them. An administrator without a password has not
-- accepted the invitation yet.
CREATE TABLE administrators (
  name TEXT PRIMARY KEY NOT NULL CHECK (length(name) BETWEEN 1 AND 32),
  role TEXT NOT NULL CHECK (role IN ('support', 'operator', 'owner')),
  active INTEGER NOT NULL CHECK (active IN (0, 1)),
  -- argon2id with its parameters and salt.
  password_hash TEXT,
  -- SHA-256 of the token of an open invitation.
  invitation_hash TEXT UNIQUE CHECK (length(invitation_hash) = 64),
  invited_until INTEGER,
  -- Base32. Offered: shown to the administrator, who has not yet proved that an authenticator has it.
  totp_secret TEXT,
  offered_secret TEXT,
  -- The step of the last accepted code. No code is accepted twice.
  totp_step INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  signed_in_at INTEGER,
  CHECK ((invitation_hash IS NULL) = (invited_until IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TRIGGER administrators_stay BEFORE DELETE ON administrators
BEGIN SELECT RAISE(ABORT, 'administrators are disabled, not deleted'); END;

-- Codes that replace the second factor. Each works once.
CREATE TABLE recovery_codes (
  administrator TEXT NOT NULL REFERENCES administrators (name),
  -- SHA-256 of the code.
  hash TEXT NOT NULL CHECK (length(hash) = 64),
  PRIMARY KEY (administrator, hash)
) STRICT, WITHOUT ROWID;

-- Sessions of the panel.
CREATE TABLE panel_sessions (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) >= 16),
  -- SHA-256 of the secret, which only the browser has.
  hash TEXT NOT NULL CHECK (length(hash) = 64),
  administrator TEXT NOT NULL REFERENCES administrators (name),
  -- The password was right, the second factor is missing.
  awaits_code INTEGER NOT NULL CHECK (awaits_code IN (0, 1)),
  created_at INTEGER NOT NULL,
  -- Written at most once a minute.
  seen_at INTEGER NOT NULL,
  -- When the password or a code was last entered.
  proved_at INTEGER NOT NULL,
  address TEXT NOT NULL,
  user_agent TEXT NOT NULL CHECK (length(user_agent) <= 200),
  -- Wrong passwords and codes since the last right one. Too many end the session.
  failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0)
) STRICT, WITHOUT ROWID;

CREATE INDEX panel_sessions_by_administrator ON panel_sessions (administrator);

-- Networks that each administrator signed in from lately. Failed attempts of others do not delay sign-ins from there.
CREATE TABLE known_networks (
  administrator TEXT NOT NULL REFERENCES administrators (name),
  -- As in sign_in_attempts.
  network TEXT NOT NULL,
  signed_in_at INTEGER NOT NULL,
  PRIMARY KEY (administrator, network)
) STRICT, WITHOUT ROWID;

-- Attempts with a password, a code or an invitation. A row is written before the attempt is checked, and deleted if it
-- succeeds. So the rows are the failures, and simultaneous attempts cannot pass the limit together.
CREATE TABLE sign_in_attempts (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  address TEXT NOT NULL,
  -- The address, or the network of an IPv6 address.
  network TEXT NOT NULL,
  -- 32 bits of the hash of the entered name, of unknown names too, because somebody may enter a password there.
  name_tag INTEGER NOT NULL,
  administrator TEXT REFERENCES administrators (name),
  user_agent TEXT NOT NULL CHECK (length(user_agent) <= 200)
) STRICT;

CREATE INDEX sign_in_attempts_by_network ON sign_in_attempts (network, at);
CREATE INDEX sign_in_attempts_by_name ON sign_in_attempts (name_tag, at);

-- Forms that were confirmed lately. A form that is sent twice counts once.
CREATE TABLE confirmations (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) BETWEEN 16 AND 64),
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Every change by an operator or a key, written in the transaction of the change. `before` and `after` are JSON objects
-- of what differs, never of secrets.
CREATE TABLE audit (
  seq INTEGER PRIMARY KEY,
  created_at INTEGER NOT NULL,
  key_id TEXT REFERENCES keys (id),
  operator TEXT,
  action TEXT NOT NULL CHECK (length(action) >= 1),
  subject TEXT NOT NULL CHECK (length(subject) >= 1),
  -- The user that the change concerns. Null: no user, or all.
  account INTEGER REFERENCES users (account),
  before TEXT CHECK (json_type(before) = 'object'),
  after TEXT CHECK (json_type(after) = 'object'),
  CHECK ((key_id IS NULL) <> (operator IS NULL)),
  CHECK (before IS NOT NULL OR after IS NOT NULL)
) STRICT;

CREATE INDEX audit_by_account ON audit (account, seq) WHERE account IS NOT NULL;
-- What happened to one thing, such as the prices of a service, and what one operator did. Entries of keys are only in
-- the first.
CREATE INDEX audit_by_subject ON audit (subject, seq);
CREATE INDEX audit_by_operator ON audit (operator, seq) WHERE operator IS NOT NULL;

CREATE TRIGGER audit_append_only_delete BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

CREATE TRIGGER audit_append_only_update BEFORE UPDATE ON audit
WHEN NEW.seq <> OLD.seq OR NEW.created_at <> OLD.created_at OR NEW.key_id IS NOT OLD.key_id
  OR NEW.operator IS NOT OLD.operator OR NEW.action <> OLD.action OR NEW.account IS NOT OLD.account
  OR (SELECT coalesce(erased_at, (SELECT parents.erased_at FROM users AS parents
      WHERE parents.account = users.parent_account)) FROM users WHERE users.account = OLD.account) IS NULL
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;


-- Reports --

-- Totals of the rows up to totals_position, by day (days since 1970 in UTC) and by service, reseller or provider ('':
-- delivered by hand). Test orders are not counted.
CREATE TABLE daily_totals (
  kind TEXT NOT NULL CHECK (kind IN ('service', 'reseller', 'provider')),
  day INTEGER NOT NULL,
  key TEXT NOT NULL,
  orders INTEGER NOT NULL,
  revenue_micros INTEGER NOT NULL,
  refunds_micros INTEGER NOT NULL,
  cost_micros INTEGER NOT NULL,
  PRIMARY KEY (kind, day, key)
) STRICT, WITHOUT ROWID;

-- The last rows that daily_totals counts, and the goal up to which rows are counted next. On PostgreSQL they are
-- counted once no transaction before goal_transaction is open. It is 0 until a goal is set, and always on SQLite, which
-- has one writer.
CREATE TABLE totals_position (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  orders INTEGER NOT NULL DEFAULT 0,
  transfers INTEGER NOT NULL DEFAULT 0,
  costs INTEGER NOT NULL DEFAULT 0,
  goal_orders INTEGER NOT NULL DEFAULT 0 CHECK (goal_orders >= orders),
  goal_transfers INTEGER NOT NULL DEFAULT 0 CHECK (goal_transfers >= transfers),
  goal_costs INTEGER NOT NULL DEFAULT 0 CHECK (goal_costs >= costs),
  goal_transaction INTEGER NOT NULL DEFAULT 0
) STRICT;

INSERT INTO totals_position (id) VALUES (1);


-- The database itself --

-- What a request with an Idempotency-Key did, so that a repetition does nothing and gets the same response. Written in
-- the transaction of its effect: an order, or the transfer of a recharge. Without a response, the request still waits
-- for the order's provider, or the process died before it responded.
CREATE TABLE idempotency (
  seq INTEGER PRIMARY KEY,
  reseller_account INTEGER NOT NULL REFERENCES users (account),
  key TEXT NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
  request_hash TEXT NOT NULL CHECK (length(request_hash) = 64),
  order_id INTEGER REFERENCES orders (order_id),
  transfer_seq INTEGER REFERENCES transfers (seq),
  response_status INTEGER CHECK (response_status BETWEEN 200 AND 599),
  response_body TEXT,
  -- The results of a batch, one for each order, in case its response was never given.
  results TEXT CHECK (results IS NULL OR order_id IS NOT NULL),
  created_at INTEGER NOT NULL,
  -- The uptime when the key was used. Its age is measured in uptime, so setting the clock does not change it.
  uptime INTEGER NOT NULL DEFAULT 0 CHECK (uptime >= 0),
  UNIQUE (reseller_account, key),
  CHECK ((order_id IS NULL) <> (transfer_seq IS NULL)),
  CHECK ((response_status IS NULL) = (response_body IS NULL)),
  CHECK (transfer_seq IS NULL OR response_body IS NOT NULL)
) STRICT;

CREATE INDEX idempotency_by_age ON idempotency (uptime);

CREATE TRIGGER idempotency_keeps_its_effect
BEFORE UPDATE OF seq, reseller_account, key, request_hash, order_id, transfer_seq, created_at ON idempotency
BEGIN SELECT RAISE(ABORT, 'a used key keeps what it did'); END;

CREATE TRIGGER idempotency_keeps_its_response BEFORE UPDATE ON idempotency
WHEN OLD.response_body IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a given response is never changed'); END;

CREATE TRIGGER idempotency_keeps_its_results BEFORE UPDATE OF results ON idempotency
BEGIN SELECT RAISE(ABORT, 'a used key keeps what it did'); END;

CREATE TRIGGER idempotency_keeps_its_age BEFORE UPDATE OF uptime ON idempotency
BEGIN SELECT RAISE(ABORT, 'a used key keeps its age'); END;

-- How long servers have run on this database, by a monotonic clock. It grows no faster than real time, whatever the
-- wall clock is set to, and stands still while no server runs.
CREATE TABLE uptime (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  milliseconds INTEGER NOT NULL CHECK (milliseconds >= 0)
) STRICT;

INSERT INTO uptime (id, milliseconds) VALUES (1, 0);

CREATE TRIGGER uptime_only_grows BEFORE UPDATE ON uptime WHEN NEW.milliseconds < OLD.milliseconds
BEGIN SELECT RAISE(ABORT, 'uptime only grows'); END;

CREATE TRIGGER uptime_stays BEFORE DELETE ON uptime
BEGIN SELECT RAISE(ABORT, 'uptime only grows'); END;

-- The servers of this database. Always empty on SQLite: the lock of the data directory allows one server.
CREATE TABLE servers (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 24),
  name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
  started_at INTEGER NOT NULL,
  lease_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Numbers of rows grow, and so do their times, except where the clock was set back. Each such place is recorded:
-- between two of them a time is found by binary search.
CREATE TABLE clock_steps (
  ledger TEXT NOT NULL CHECK (ledger IN ('orders', 'transfers')),
  -- The first row with an earlier time, that time, and the later time of the row before it.
  first INTEGER NOT NULL,
  time INTEGER NOT NULL,
  time_before INTEGER NOT NULL,
  PRIMARY KEY (ledger, first),
  CHECK (time < time_before)
) STRICT, WITHOUT ROWID;

-- Numbers that callers and operators saw are never given again. After a restore, the table with this name continues
-- above the highest number that was given before.
CREATE TABLE number_floors (
  table_name TEXT PRIMARY KEY NOT NULL,
  floor INTEGER NOT NULL CHECK (floor BETWEEN 0 AND 9007199254740991)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER number_floors_only_rise BEFORE UPDATE ON number_floors
WHEN NEW.table_name <> OLD.table_name OR NEW.floor < OLD.floor
BEGIN SELECT RAISE(ABORT, 'a floor of numbers only rises'); END;

CREATE TRIGGER number_floors_are_kept BEFORE DELETE ON number_floors
BEGIN SELECT RAISE(ABORT, 'floors of numbers are never deleted'); END;
