-- The schema on PostgreSQL. migrations/sqlite/ has the same tables with the same rules. Amounts are integers in micros,
-- times are milliseconds since 1970, booleans are 0 and 1, so that one text of a query serves both engines. Text is
-- compared byte by byte, as on SQLite.

CREATE COLLATION "binary" FROM "C";

CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'check_violation'; END $$;


-- Accounts --

-- The accounts of the ledger. Account 1 is cash, account 2 is sales, and every user has one above 2. Accounts -1 and -2
-- are the cash and the sales of test orders.
CREATE TABLE accounts (
  account bigint PRIMARY KEY,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('cash', 'sales', 'user'))
);

INSERT INTO accounts (account, kind) VALUES (1, 'cash'), (2, 'sales'), (-1, 'cash'), (-2, 'sales');

CREATE SEQUENCE accounts_number START 3 OWNED BY accounts.account;

CREATE FUNCTION accounts_stay_referred_to() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE transfers IN SHARE ROW EXCLUSIVE MODE;
  IF EXISTS (SELECT FROM transfers WHERE OLD.account IN (debit_account, credit_account)) THEN
    RAISE EXCEPTION 'transfers refer to a row of accounts' USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER accounts_deleted AFTER DELETE ON accounts FOR EACH ROW
EXECUTE FUNCTION accounts_stay_referred_to();

CREATE TRIGGER accounts_renumbered AFTER UPDATE OF account ON accounts FOR EACH ROW
WHEN (NEW.account <> OLD.account) EXECUTE FUNCTION accounts_stay_referred_to();


-- Users --

-- A reseller has no parent. The parent of a child user is a reseller.
CREATE TABLE users (
  account bigint PRIMARY KEY REFERENCES accounts (account),
  id text COLLATE "C" NOT NULL UNIQUE CHECK (length(id) = 24),
  username text COLLATE "C" NOT NULL CHECK (length(username) BETWEEN 1 AND 64),
  name text COLLATE "C" NOT NULL,
  parent_account bigint REFERENCES users (account),
  -- A cache of the ledger: written only together with a transfer.
  balance_micros bigint NOT NULL DEFAULT 0,
  -- Credits from cash minus debits to cash. The balance never exceeds it, so no refund exceeds 64 bits.
  deposited_micros bigint NOT NULL DEFAULT 0 CHECK (deposited_micros BETWEEN 0 AND 9000000000000000000),
  created_at bigint NOT NULL,
  -- The event types that the account's endpoints want, as bits, and the highest of their balance thresholds. So a
  -- command knows without reading endpoints that it has no event to write.
  wanted_events bigint NOT NULL DEFAULT 0 CHECK (wanted_events >= 0),
  low_balance_micros bigint CHECK (low_balance_micros > 0),
  -- The account whose test account this is. Null: not a test account.
  test_of bigint REFERENCES users (account),
  -- The keys of an inactive user are inactive. The user, its balance and its orders stay.
  active smallint NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
  -- When the user's personal data was erased. Only then the triggers below allow texts to be removed from rows that
  -- otherwise never change: links, texts, references and notes. A migration that adds a column to such a table adds it
  -- to the trigger.
  erased_at bigint CHECK (erased_at IS NULL OR active = 0),
  -- The reseller's discount in millionths of the price.
  discount_ppm bigint NOT NULL DEFAULT 0 CHECK (discount_ppm BETWEEN 0 AND 1000000),
  CHECK (balance_micros BETWEEN 0 AND deposited_micros)
) WITH (fillfactor = 50);

CREATE UNIQUE INDEX users_by_username ON users (lower(username));
CREATE INDEX users_by_parent ON users (parent_account) WHERE parent_account IS NOT NULL;
CREATE UNIQUE INDEX users_by_test_of ON users (test_of) WHERE test_of IS NOT NULL;

CREATE FUNCTION is_erased(bigint) RETURNS boolean LANGUAGE sql STABLE AS
$$ SELECT EXISTS (SELECT FROM users WHERE account = $1 AND erased_at IS NOT NULL) $$;

CREATE FUNCTION users_parent_is_reseller() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT parent_account IS NOT NULL FROM users WHERE account = NEW.parent_account) THEN
    RAISE EXCEPTION 'the parent of a child user must be a reseller' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER users_parent_is_reseller BEFORE INSERT ON users FOR EACH ROW
WHEN (NEW.parent_account IS NOT NULL) EXECUTE FUNCTION users_parent_is_reseller();

CREATE TRIGGER users_keep_identity BEFORE UPDATE OF account, id, parent_account ON users FOR EACH ROW
EXECUTE FUNCTION refuse('a user keeps its account, id and parent');

CREATE TRIGGER users_are_kept BEFORE DELETE ON users FOR EACH ROW
EXECUTE FUNCTION refuse('users are never deleted');

CREATE FUNCTION users_test_of_a_user() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.parent_account IS NOT NULL OR (SELECT test_of IS NOT NULL FROM users WHERE account = NEW.test_of) THEN
    RAISE EXCEPTION 'a test account is that of a user, and has no parent' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER users_test_of_a_user BEFORE INSERT ON users FOR EACH ROW
WHEN (NEW.test_of IS NOT NULL) EXECUTE FUNCTION users_test_of_a_user();

CREATE TRIGGER users_keep_side BEFORE UPDATE OF test_of ON users FOR EACH ROW
EXECUTE FUNCTION refuse('a test account stays one');

CREATE TRIGGER users_stay_erased BEFORE UPDATE OF erased_at, active, username, name ON users FOR EACH ROW
WHEN (OLD.erased_at IS NOT NULL AND (NEW.erased_at IS DISTINCT FROM OLD.erased_at OR NEW.active <> OLD.active
  OR NEW.username <> OLD.username OR NEW.name <> OLD.name))
EXECUTE FUNCTION refuse('a user stays erased');

CREATE FUNCTION catalogue_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN UPDATE catalogue_version SET version = version + 1 WHERE id = 1; RETURN NULL; END $$;
CREATE TRIGGER users_discounted AFTER UPDATE OF discount_ppm ON users FOR EACH ROW
WHEN (NEW.discount_ppm <> OLD.discount_ppm) EXECUTE FUNCTION catalogue_changed();

-- Only a key's SHA-256 is stored, and its first characters to recognise it by.
CREATE TABLE keys (
  id text COLLATE "C" PRIMARY KEY CHECK (length(id) = 24),
  reseller_account bigint NOT NULL REFERENCES users (account),
  hash text COLLATE "C" NOT NULL UNIQUE CHECK (length(hash) = 64),
  start text COLLATE "C" NOT NULL CHECK (length(start) <= 8),
  type text COLLATE "C" NOT NULL CHECK (type IN ('order', 'recharge', 'full')),
  reach text COLLATE "C" NOT NULL CHECK (reach IN ('all', 'children')),
  label text COLLATE "C" NOT NULL DEFAULT '',
  active smallint NOT NULL CHECK (active IN (0, 1)),
  created_at bigint NOT NULL,
  -- From this time on the key is refused. Null: never.
  expires_at bigint CHECK (expires_at >= created_at),
  -- Networks in CIDR notation, separated by commas. Empty: every address.
  allow text COLLATE "C" NOT NULL DEFAULT '',
  -- Written at most once a minute.
  last_used_at bigint,
  -- The key that replaced this one, which works until expires_at.
  replaced_by text COLLATE "C" REFERENCES keys (id),
  -- The key is known to have expired, so setting the clock back does not revive it. Activating it does.
  ended smallint NOT NULL DEFAULT 0 CHECK (ended IN (0, 1)),
  -- test_of of the account, so that a request does not need to read a second row.
  test_of bigint REFERENCES users (account),
  -- Inactive because the user is. The key is activated together with the user.
  suspended smallint NOT NULL DEFAULT 0
    CHECK (suspended IN (0, 1) AND (suspended = 0 OR active = 0)),
  -- The address that used the key last.
  last_address text COLLATE "C" CHECK (length(last_address) BETWEEN 1 AND 64),
  -- Limits for one recharge and for a day. Null: no limit.
  recharge_limit_micros bigint
    CHECK (recharge_limit_micros IS NULL OR (recharge_limit_micros > 0 AND type <> 'order')),
  recharge_daily_micros bigint
    CHECK (recharge_daily_micros IS NULL OR (recharge_daily_micros > 0 AND type <> 'order')),
  -- The first of the keys that were rotated to this one: their recharges of a day count together. Null: this is the
  -- first.
  origin_id text COLLATE "C" REFERENCES keys (id),
  -- When the first recharge was refused on the last day with a refusal. Null: none since the limits were changed.
  recharge_refused_at bigint
);

CREATE INDEX keys_by_reseller ON keys (reseller_account);
CREATE INDEX keys_recharge_refused ON keys (recharge_refused_at) WHERE recharge_refused_at IS NOT NULL;

CREATE FUNCTION keys_belong_to_resellers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT parent_account IS NOT NULL FROM users WHERE account = NEW.reseller_account) THEN
    RAISE EXCEPTION 'a key belongs to a reseller, never to a child user' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER keys_belong_to_resellers BEFORE INSERT ON keys FOR EACH ROW
EXECUTE FUNCTION keys_belong_to_resellers();

CREATE FUNCTION keys_stay_referred_to() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE transfers IN SHARE ROW EXCLUSIVE MODE;
  IF EXISTS (SELECT FROM transfers WHERE key_id = OLD.id) THEN
    RAISE EXCEPTION 'transfers refer to a row of keys' USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER keys_deleted AFTER DELETE ON keys FOR EACH ROW
EXECUTE FUNCTION keys_stay_referred_to();

CREATE TRIGGER keys_renumbered AFTER UPDATE OF id ON keys FOR EACH ROW
WHEN (NEW.id <> OLD.id) EXECUTE FUNCTION keys_stay_referred_to();

CREATE FUNCTION keys_have_their_accounts_side() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.test_of IS DISTINCT FROM (SELECT test_of FROM users WHERE account = NEW.reseller_account) THEN
    RAISE EXCEPTION 'a test key belongs to a test account, any other to none' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER keys_have_their_accounts_side BEFORE INSERT ON keys FOR EACH ROW
EXECUTE FUNCTION keys_have_their_accounts_side();

CREATE TRIGGER keys_keep_side BEFORE UPDATE OF reseller_account, test_of ON keys FOR EACH ROW
EXECUTE FUNCTION refuse('a key keeps its account');

-- What keys recharged on each UTC day. The day is the number of days since 1970.
CREATE TABLE key_recharges (
  key_id text COLLATE "C" NOT NULL REFERENCES keys (id),
  day bigint NOT NULL,
  recharged_micros bigint NOT NULL CHECK (recharged_micros > 0),
  PRIMARY KEY (key_id, day)
);


-- Providers --

-- Keys of providers are stored in clear, only here, because each call sends them.
CREATE TABLE providers (
  provider_id bigint PRIMARY KEY,
  name text COLLATE "C" NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
  protocol text COLLATE "C" NOT NULL,
  url text COLLATE "C" NOT NULL CHECK (url ILIKE 'http://%' OR url ILIKE 'https://%'),
  key text COLLATE "C" NOT NULL CHECK (length(key) >= 1),
  -- When a call last succeeded.
  last_success_at bigint,
  -- Since when the provider refuses orders for lack of funds. Null again once it accepts one.
  out_of_funds_at bigint,
  created_at bigint NOT NULL,
  -- US dollars for one unit of the provider's currency.
  rate_to_usd text COLLATE "C" NOT NULL DEFAULT '1' CHECK (length(rate_to_usd) BETWEEN 1 AND 40),
  -- Null: unknown.
  currency text COLLATE "C" CHECK (length(currency) BETWEEN 2 AND 8),
  -- A currency that the provider charged in although it is not its own. Null again once the operator has settled it.
  foreign_currency text COLLATE "C" CHECK (length(foreign_currency) BETWEEN 2 AND 8),
  -- Whether the provider gets orders.
  active smallint NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
  -- Percent, as a decimal number. Null: not set, so no sync sells at cost by mistake.
  markup text COLLATE "C" CHECK (length(markup) >= 1),
  -- Milliseconds between scheduled syncs. Null: none are scheduled.
  sync_every bigint CHECK (sync_every > 0 AND (sync_every IS NULL OR markup IS NOT NULL)),
  -- What a scheduled sync may do without being asked: change a price by this many percent, deactivate this many
  -- services.
  sync_price_limit text COLLATE "C" NOT NULL DEFAULT '20' CHECK (length(sync_price_limit) >= 1),
  sync_deactivation_limit bigint NOT NULL DEFAULT 10 CHECK (sync_deactivation_limit >= 0),
  -- What happens to services that are not in the catalogue yet.
  sync_new text COLLATE "C" NOT NULL DEFAULT 'public' CHECK (sync_new IN ('public', 'private', 'ignore')),
  -- Whether new services get ids made from their names.
  readable_ids smallint NOT NULL DEFAULT 0 CHECK (readable_ids IN (0, 1)),
  -- The last sync, applied or not, and why the last scheduled one was not applied.
  synced_at bigint,
  sync_held text COLLATE "C" CHECK (length(sync_held) >= 1),
  -- The operator is alerted below this balance, in the provider's currency.
  low_balance_micros bigint CHECK (low_balance_micros > 0),
  -- Our balance at the provider when it last told it.
  balance_micros bigint,
  balance_currency text COLLATE "C",
  balance_at bigint CHECK ((balance_at IS NULL) = (balance_micros IS NULL)),
  -- When the provider was last asked for the balance, whether it replied or not.
  balance_asked_at bigint,
  -- Unknown outcomes since the last reply that said whether an order was taken.
  unknown_in_row integer NOT NULL DEFAULT 0 CHECK (unknown_in_row >= 0),
  -- Since when submissions wait: after too many unknown outcomes in a row, or by the operator. Null: they do not wait.
  paused_at bigint,
  paused_by text COLLATE "C" CHECK (
    (paused_by IS NULL) = (paused_at IS NULL) AND (paused_by = 'unknown' OR paused_by = 'operator' OR paused_by IS NULL)
  ),
  -- How often the balance was asked for during the pause. The next question comes later each time.
  pause_asks integer NOT NULL DEFAULT 0 CHECK (pause_asks >= 0)
);

-- The provider that delivers test orders, inside the server. No operator can name it: names of providers have no colon.
INSERT INTO providers (provider_id, name, protocol, url, key, created_at)
VALUES (0, 'test:sandbox', 'sandbox', 'https://sandbox.invalid', 'none', 0);

CREATE SEQUENCE providers_number OWNED BY providers.provider_id;
CREATE UNIQUE INDEX providers_by_name ON providers (lower(name));

CREATE FUNCTION providers_stay_referred_to() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE orders IN SHARE ROW EXCLUSIVE MODE;
  IF EXISTS (SELECT FROM orders WHERE provider_id = OLD.provider_id) THEN
    RAISE EXCEPTION 'orders refer to a row of providers' USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER providers_deleted AFTER DELETE ON providers FOR EACH ROW
EXECUTE FUNCTION providers_stay_referred_to();

CREATE TRIGGER providers_renumbered AFTER UPDATE OF provider_id ON providers FOR EACH ROW
WHEN (NEW.provider_id <> OLD.provider_id) EXECUTE FUNCTION providers_stay_referred_to();

-- The lock waits for attempts in progress, whose rows no other transaction sees, and keeps out later ones.
CREATE FUNCTION providers_attempted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE attempts IN SHARE ROW EXCLUSIVE MODE;
  IF EXISTS (SELECT FROM attempts WHERE provider_id = OLD.provider_id) THEN
    RAISE EXCEPTION 'attempts refer to a row of providers' USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER providers_attempted AFTER DELETE ON providers FOR EACH ROW EXECUTE FUNCTION providers_attempted();

-- A provider's rate for a service, from a sync. It applies to orders with numbers above after_order, up to the
-- after_order of the next row: numbers only grow, unlike times.
CREATE TABLE provider_rates (
  provider_id bigint NOT NULL REFERENCES providers (provider_id) ON DELETE CASCADE,
  provider_service text COLLATE "C" NOT NULL CHECK (length(provider_service) BETWEEN 1 AND 64),
  after_order bigint NOT NULL CHECK (after_order >= 0),
  rate text COLLATE "C" NOT NULL CHECK (length(rate) >= 1),
  unit text COLLATE "C" NOT NULL CHECK (unit IN ('1000', 'order')),
  created_at bigint NOT NULL,
  dripfeed smallint NOT NULL CHECK (dripfeed IN (0, 1)),
  PRIMARY KEY (provider_id, provider_service, after_order)
);


-- Catalogue --

-- A service with a provider is delivered by it. A service without one is delivered by hand.
CREATE TABLE services (
  number bigint NOT NULL CHECK (number BETWEEN 1 AND 9007199254740991) UNIQUE,
  id text COLLATE "C" PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 64),
  name text COLLATE "C" NOT NULL CHECK (length(name) >= 1),
  category text COLLATE "C" NOT NULL DEFAULT 'Services' CHECK (length(category) >= 1),
  price_micros bigint NOT NULL CHECK (price_micros BETWEEN 0 AND 9007199254740991),
  per text COLLATE "C" NOT NULL CHECK (per IN ('1000', '1', 'order')),
  min bigint NOT NULL CHECK (min >= 1),
  max bigint NOT NULL CHECK (max <= 1000000000),
  active smallint NOT NULL CHECK (active IN (0, 1)),
  private smallint NOT NULL CHECK (private IN (0, 1)),
  created_at bigint NOT NULL,
  provider_id bigint REFERENCES providers (provider_id),
  provider_service text COLLATE "C" CHECK ((provider_service IS NULL) = (provider_id IS NULL)),
  -- The priority of the first route. Lower ones are tried first.
  provider_priority bigint NOT NULL DEFAULT 0 CHECK (provider_priority BETWEEN 0 AND 1000000),
  -- Fields that the operator set. A sync does not change them.
  name_by_hand smallint NOT NULL DEFAULT 1 CHECK (name_by_hand IN (0, 1)),
  category_by_hand smallint NOT NULL DEFAULT 0 CHECK (category_by_hand IN (0, 1)),
  price_by_hand smallint NOT NULL DEFAULT 1 CHECK (price_by_hand IN (0, 1)),
  min_by_hand smallint NOT NULL DEFAULT 1 CHECK (min_by_hand IN (0, 1)),
  max_by_hand smallint NOT NULL DEFAULT 1 CHECK (max_by_hand IN (0, 1)),
  -- Deactivated by a sync, because the provider no longer lists it. The sync that finds it again activates it.
  delisted smallint NOT NULL DEFAULT 0 CHECK (delisted IN (0, 1) AND (delisted = 0 OR active = 0)),
  -- Whether orders can be cancelled and refilled, and for how many days after their end.
  cancel smallint NOT NULL DEFAULT 0 CHECK (cancel IN (0, 1)),
  refill smallint NOT NULL DEFAULT 0 CHECK (refill IN (0, 1)),
  refill_days bigint NOT NULL DEFAULT 30 CHECK (refill_days BETWEEN 1 AND 3650),
  cancel_by_hand smallint NOT NULL DEFAULT 0 CHECK (cancel_by_hand IN (0, 1)),
  refill_by_hand smallint NOT NULL DEFAULT 0 CHECK (refill_by_hand IN (0, 1)),
  -- Which fields its orders take besides the link, and how they are charged.
  type text COLLATE "C" NOT NULL DEFAULT 'default' CHECK (
    type IN (
      'default', 'package', 'custom_comments', 'custom_comments_package', 'seo', 'mentions_with_hashtags',
      'mentions_custom_list', 'mentions_hashtag', 'mentions_user_followers', 'mentions_media_likers', 'comment_likes',
      'comment_replies', 'poll', 'invites_from_groups', 'web_traffic'
    )
    -- A package has one price, whatever is in it. What is counted is sold by units.
    AND (type = 'default' OR (type IN ('package', 'custom_comments_package')) = (per = 'order'))
  ),
  dripfeed smallint NOT NULL DEFAULT 0 CHECK (
    dripfeed IN (0, 1) AND (dripfeed = 0 OR (type = 'default' AND per <> 'order'))
  ),
  type_by_hand smallint NOT NULL DEFAULT 0 CHECK (type_by_hand IN (0, 1)),
  dripfeed_by_hand smallint NOT NULL DEFAULT 0 CHECK (dripfeed_by_hand IN (0, 1)),
  -- Inactive because its provider is. It is activated together with the provider.
  suspended smallint NOT NULL DEFAULT 0
    CHECK (suspended IN (0, 1) AND (suspended = 0 OR active = 0)),
  -- The provider of the first route no longer lists it. The service is deactivated only if no other route is left.
  route_delisted smallint NOT NULL DEFAULT 0 CHECK (route_delisted IN (0, 1)),
  CHECK (min <= max)
);

CREATE SEQUENCE services_number OWNED BY services.number;
CREATE INDEX services_by_name ON services (name, id);
CREATE INDEX services_by_provider ON services (provider_id, provider_service) WHERE provider_id IS NOT NULL;
CREATE INDEX services_route_delisted ON services (provider_id) WHERE route_delisted = 1;

CREATE TRIGGER services_added AFTER INSERT ON services FOR EACH STATEMENT EXECUTE FUNCTION catalogue_changed();

CREATE TRIGGER services_removed AFTER DELETE ON services FOR EACH STATEMENT EXECUTE FUNCTION catalogue_changed();

-- The other side of the references: a row that is referred to stays and keeps its key. Users, orders and transfers have
-- triggers of their own for that. The lock waits for inserts in progress, whose rows no other transaction sees, and
-- keeps out later ones.
CREATE FUNCTION services_stay_referred_to() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE orders IN SHARE ROW EXCLUSIVE MODE;
  IF EXISTS (SELECT FROM orders WHERE service_id = OLD.id) THEN
    RAISE EXCEPTION 'orders refer to a row of services' USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER services_deleted AFTER DELETE ON services FOR EACH ROW
EXECUTE FUNCTION services_stay_referred_to();

CREATE TRIGGER services_renumbered AFTER UPDATE OF id ON services FOR EACH ROW
WHEN (NEW.id <> OLD.id) EXECUTE FUNCTION services_stay_referred_to();

CREATE TRIGGER services_changed
AFTER UPDATE OF id, name, category, price_micros, per, min, max, active, private ON services
FOR EACH STATEMENT EXECUTE FUNCTION catalogue_changed();

CREATE TRIGGER services_keep_number BEFORE UPDATE OF number ON services FOR EACH ROW
WHEN (NEW.number <> OLD.number) EXECUTE FUNCTION refuse('a service keeps its number');

CREATE TRIGGER services_type_changed AFTER UPDATE OF type, dripfeed ON services
FOR EACH STATEMENT EXECUTE FUNCTION catalogue_changed();

CREATE TRIGGER services_requests_changed AFTER UPDATE OF cancel, refill, refill_days ON services
FOR EACH STATEMENT EXECUTE FUNCTION catalogue_changed();

-- The routes of a service after the first. They are deleted with the service. A provider that has routes is kept.
CREATE TABLE service_routes (
  service_id text COLLATE "C" NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  provider_id bigint NOT NULL REFERENCES providers (provider_id) CHECK (provider_id > 0),
  -- The id of the service at this provider.
  provider_service text COLLATE "C" NOT NULL CHECK (length(provider_service) >= 1),
  priority bigint NOT NULL CHECK (priority BETWEEN 0 AND 1000000),
  -- The order in which routes are tried, from 1.
  place bigint NOT NULL CHECK (place >= 1),
  -- The provider no longer lists it.
  delisted smallint NOT NULL DEFAULT 0 CHECK (delisted IN (0, 1)),
  PRIMARY KEY (service_id, provider_id, provider_service)
);

CREATE INDEX service_routes_by_provider ON service_routes (provider_id, provider_service);
CREATE INDEX service_routes_delisted ON service_routes (provider_id) WHERE delisted = 1;

-- Opens a private service to a reseller, gives the reseller a price of its own, or both.
CREATE TABLE grants (
  service_id text COLLATE "C" NOT NULL REFERENCES services (id),
  reseller_account bigint NOT NULL REFERENCES users (account),
  price_micros bigint CHECK (price_micros BETWEEN 0 AND 9007199254740991),
  created_at bigint NOT NULL,
  PRIMARY KEY (service_id, reseller_account)
);

CREATE INDEX grants_by_reseller ON grants (reseller_account);

CREATE TRIGGER grants_added AFTER INSERT ON grants FOR EACH STATEMENT EXECUTE FUNCTION catalogue_changed();

CREATE TRIGGER grants_changed AFTER UPDATE OF service_id, reseller_account, price_micros ON grants
FOR EACH STATEMENT EXECUTE FUNCTION catalogue_changed();

CREATE TRIGGER grants_removed AFTER DELETE ON grants FOR EACH STATEMENT EXECUTE FUNCTION catalogue_changed();

-- Changes of services, grants and discounts, for the feed of resellers. A change is one row, however many resellers
-- there are: what it means for a reseller is computed when the reseller asks.
CREATE TABLE service_changes (
  seq bigint PRIMARY KEY CHECK (seq BETWEEN 1 AND 1000000000000000),
  at bigint NOT NULL,
  -- Null: the discount of the reseller.
  service_id text COLLATE "C" CHECK (length(service_id) BETWEEN 1 AND 64),
  -- Null: a change of the service itself. Otherwise of what this reseller has.
  reseller_account bigint REFERENCES users (account),
  -- The service's terms as JSON. Null: the service did not exist, or does not exist any more.
  before text COLLATE "C",
  after text COLLATE "C",
  -- The reseller's own terms as JSON.
  own_before text COLLATE "C",
  own_after text COLLATE "C",
  CHECK ((service_id IS NULL) = (before IS NULL AND after IS NULL)),
  CHECK (service_id IS NOT NULL OR reseller_account IS NOT NULL),
  CHECK ((reseller_account IS NULL) = (own_before IS NULL) AND (reseller_account IS NULL) = (own_after IS NULL))
);

CREATE SEQUENCE service_changes_number OWNED BY service_changes.seq;
CREATE INDEX service_changes_by_reseller ON service_changes (reseller_account, service_id, seq)
  WHERE reseller_account IS NOT NULL;
CREATE INDEX service_changes_by_discount ON service_changes (reseller_account, seq) WHERE reseller_account IS NOT NULL;
CREATE INDEX service_changes_by_service ON service_changes (service_id, seq) WHERE reseller_account IS NULL;

CREATE TRIGGER service_changes_are_kept BEFORE UPDATE ON service_changes FOR EACH ROW
EXECUTE FUNCTION refuse('what changed is never changed');

CREATE TRIGGER service_changes_stay BEFORE DELETE ON service_changes FOR EACH ROW
EXECUTE FUNCTION refuse('what changed is never deleted');

-- Grows with every change of what GET /services shows or to whom, in the transaction of the change. Lists that were
-- made from the same version are still right.
CREATE TABLE catalogue_version (
  id bigint PRIMARY KEY CHECK (id = 1),
  version bigint NOT NULL
);

INSERT INTO catalogue_version (id, version) VALUES (1, 1);


-- Orders --

-- An order keeps the terms it was sold on: later changes of its service do not change it.
CREATE TABLE orders (
  order_id bigint PRIMARY KEY CHECK (order_id > 0),
  id text COLLATE "C" NOT NULL UNIQUE CHECK (length(id) = 24),
  reseller_account bigint NOT NULL,
  service_id text COLLATE "C" NOT NULL,
  service_name text COLLATE "C" NOT NULL,
  price_micros bigint NOT NULL CHECK (price_micros >= 0),
  per text COLLATE "C" NOT NULL CHECK (per IN ('1000', '1', 'order')),
  link text COLLATE "C" NOT NULL CHECK (length(link) >= 1),
  quantity bigint NOT NULL CHECK (quantity BETWEEN 1 AND 1000000000),
  charge_micros bigint NOT NULL CHECK (charge_micros >= 0),
  refunded_micros bigint NOT NULL DEFAULT 0 CHECK (refunded_micros BETWEEN 0 AND charge_micros),
  status text COLLATE "C" NOT NULL CHECK (
    status IN ('PENDING', 'PROCESSING', 'COMPLETED', 'PARTIAL', 'FAILED', 'CANCELLED', 'REFUNDED')
  ),
  start_count bigint NOT NULL DEFAULT 0 CHECK (start_count >= 0),
  remains bigint NOT NULL CHECK (remains BETWEEN 0 AND quantity),
  created_at bigint NOT NULL,
  provider_id bigint,
  provider_service text COLLATE "C" CHECK ((provider_service IS NULL) = (provider_id IS NULL)),
  placement text COLLATE "C" NOT NULL DEFAULT 'manual' CHECK (
    placement IN ('manual', 'queued', 'sending', 'placed', 'refused', 'expired', 'unknown')
    AND (placement = 'manual') = (provider_id IS NULL)
    AND (status <> 'PENDING' OR placement IN ('queued', 'sending', 'unknown'))
    AND (placement <> 'sending' OR status = 'PENDING')
    AND (placement NOT IN ('queued', 'unknown') OR status IN ('PENDING', 'CANCELLED'))
    AND (placement NOT IN ('refused', 'expired') OR status = 'FAILED')
  ),
  provider_order text COLLATE "C" CHECK ((provider_order IS NOT NULL) = (placement = 'placed')),
  -- The status that the provider reported last, as one of ours.
  reported text COLLATE "C" CHECK (reported IS NULL OR placement = 'placed'),
  next_submit_at bigint CHECK ((next_submit_at IS NOT NULL) = (placement = 'queued' AND status = 'PENDING')),
  next_poll_at bigint CHECK (
    (next_poll_at IS NULL OR placement = 'placed')
    AND (next_poll_at IS NOT NULL OR placement <> 'placed' OR status <> 'PROCESSING')
  ),
  -- When the provider last reported the order, and when such a report last said something new.
  polled_at bigint CHECK ((polled_at IS NOT NULL) = (placement = 'placed')),
  changed_at bigint CHECK ((changed_at IS NOT NULL) = (placement = 'placed')),
  -- The caller's own name for the order.
  reference text COLLATE "C" CHECK (length(reference) BETWEEN 1 AND 64),
  -- How many events the order has had, delivered to an endpoint or not.
  sequence bigint NOT NULL DEFAULT 0,
  -- The type that the order was sold as and its fields, as JSON. Null: only a link and a quantity.
  extra text COLLATE "C" CHECK (extra IS NULL OR extra LIKE '{"type":"%}'),
  CHECK (status NOT IN ('FAILED', 'CANCELLED', 'REFUNDED') OR refunded_micros = charge_micros),
  CHECK (status NOT IN ('PENDING', 'PROCESSING', 'COMPLETED') OR refunded_micros = 0)
);

CREATE SEQUENCE orders_number OWNED BY orders.order_id;
CREATE UNIQUE INDEX orders_by_reference ON orders (reseller_account, reference) WHERE reference IS NOT NULL;
CREATE INDEX orders_by_status ON orders (reseller_account, status, order_id);
-- Numbers of several servers do not follow the clock, so lists by time need an index.
CREATE INDEX orders_by_time ON orders (reseller_account, created_at);
CREATE INDEX orders_queued ON orders (provider_id, next_submit_at, order_id)
  WHERE placement = 'queued' AND status = 'PENDING';
CREATE INDEX orders_sending ON orders (order_id) WHERE placement = 'sending';
CREATE INDEX orders_unknown ON orders (order_id) WHERE placement = 'unknown' AND status = 'PENDING';
CREATE INDEX orders_polled ON orders (provider_id, next_poll_at) WHERE next_poll_at IS NOT NULL;
CREATE INDEX orders_by_provider_order ON orders (provider_id, provider_order) WHERE provider_order IS NOT NULL;
CREATE INDEX orders_open_by_provider ON orders (provider_id, placement, polled_at)
  WHERE provider_id IS NOT NULL AND status IN ('PENDING', 'PROCESSING');

-- A final order's status never changes. Its delivery may still be recorded.
CREATE TRIGGER orders_final BEFORE UPDATE OF status ON orders FOR EACH ROW
WHEN (NEW.status <> OLD.status AND OLD.status IN ('FAILED', 'CANCELLED', 'REFUNDED'))
EXECUTE FUNCTION refuse('FAILED, CANCELLED and REFUNDED are final');

-- What was sent, or may have been sent, is never queued again.
CREATE TRIGGER orders_placement_moves BEFORE UPDATE OF placement ON orders FOR EACH ROW
WHEN (OLD.placement <> NEW.placement AND NOT (
  (OLD.placement = 'queued' AND NEW.placement IN ('sending', 'expired'))
  OR (OLD.placement = 'sending' AND NEW.placement IN ('queued', 'placed', 'refused', 'unknown'))
  OR (OLD.placement = 'unknown' AND NEW.placement IN ('placed', 'refused'))
))
EXECUTE FUNCTION refuse('a placement cannot move that way');

CREATE TRIGGER orders_are_kept BEFORE DELETE ON orders FOR EACH ROW
EXECUTE FUNCTION refuse('orders are never deleted');

-- Three tables that every order writes have no foreign keys: their references are checked once for all rows of a
-- statement. A foreign key is checked for each row, which took half of the processor time of an order. Only inserts are
-- checked, because updates of these columns are refused or checked by other triggers. Values that many rows share are
-- looked up once. Each look-up is a scalar subquery, which always searches the index: a join may be planned as a scan
-- of the whole table, and plans are kept.
CREATE FUNCTION orders_refer_to_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM (SELECT DISTINCT reseller_account AS account FROM added) AS used
      WHERE used.account IS NOT NULL AND (SELECT 1 FROM users WHERE users.account = used.account) IS NULL)
    OR EXISTS (SELECT FROM (SELECT DISTINCT service_id AS id FROM added) AS used
      WHERE used.id IS NOT NULL AND (SELECT 1 FROM services WHERE services.id = used.id) IS NULL)
    OR EXISTS (SELECT FROM (SELECT DISTINCT provider_id FROM added) AS used
      WHERE used.provider_id IS NOT NULL
        AND (SELECT 1 FROM providers WHERE providers.provider_id = used.provider_id) IS NULL)
  THEN
    RAISE EXCEPTION 'an order refers to a missing row' USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER orders_refer_to_rows AFTER INSERT ON orders REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION orders_refer_to_rows();

-- An order that goes to another provider takes its revenue along. It has no refund and no cost, because it is not
-- placed. Counting locks the position, so the trigger waits for it.
CREATE FUNCTION orders_keep_totals() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  counted bigint;
BEGIN
  SELECT orders INTO counted FROM totals_position WHERE id = 1 FOR SHARE;
  IF NEW.order_id <= counted THEN
    UPDATE daily_totals SET orders = orders - 1, revenue_micros = revenue_micros - NEW.charge_micros
    WHERE kind = 'provider' AND day = NEW.created_at / 86400000 AND key = coalesce(OLD.provider_id::text, '');
    INSERT INTO daily_totals AS totals (kind, day, key, orders, revenue_micros, refunds_micros, cost_micros)
    VALUES ('provider', NEW.created_at / 86400000, coalesce(NEW.provider_id::text, ''), 1, NEW.charge_micros, 0, 0)
    ON CONFLICT (kind, day, key) DO UPDATE
    SET orders = totals.orders + 1, revenue_micros = totals.revenue_micros + excluded.revenue_micros;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER orders_keep_totals AFTER UPDATE OF provider_id ON orders FOR EACH ROW
WHEN (NEW.provider_id IS DISTINCT FROM OLD.provider_id) EXECUTE FUNCTION orders_keep_totals();

CREATE TRIGGER orders_keep_link BEFORE UPDATE OF link ON orders FOR EACH ROW
WHEN (NEW.link <> 'erased' OR OLD.status IN ('PENDING', 'PROCESSING'))
EXECUTE FUNCTION refuse('an order keeps the terms it was placed on');

CREATE FUNCTION orders_are_erased() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT is_erased(OLD.reseller_account) THEN
    RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER orders_keep_link_unless_erased BEFORE UPDATE OF link ON orders FOR EACH ROW
EXECUTE FUNCTION orders_are_erased('an order keeps the terms it was placed on');

CREATE TRIGGER orders_keep_reference BEFORE UPDATE OF reference ON orders FOR EACH ROW
WHEN (NEW.reference IS NOT NULL) EXECUTE FUNCTION refuse('an order keeps its reference');

CREATE TRIGGER orders_keep_reference_unless_erased BEFORE UPDATE OF reference ON orders FOR EACH ROW
EXECUTE FUNCTION orders_are_erased('an order keeps its reference');

-- An erasure keeps the fields. It replaces each text, except the type and empty ones, by as many lines 'erased' as it
-- has.
CREATE FUNCTION orders_keep_extra() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.status IN ('PENDING', 'PROCESSING') OR NOT is_erased(OLD.reseller_account)
    OR NEW.extra::jsonb IS DISTINCT FROM (
      SELECT jsonb_object_agg(key, CASE WHEN jsonb_typeof(value) <> 'string' OR key = 'type' OR value = '""' THEN value
        ELSE to_jsonb('erased' || repeat(chr(10) || 'erased',
          length(value #>> '{}') - length(replace(value #>> '{}', chr(10), '')))) END)
      FROM jsonb_each(OLD.extra::jsonb)) THEN
    RAISE EXCEPTION 'an order keeps the terms it was placed on' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER orders_keep_extra BEFORE UPDATE OF extra ON orders FOR EACH ROW EXECUTE FUNCTION orders_keep_extra();

CREATE TRIGGER orders_keep_terms
BEFORE UPDATE OF order_id, id, reseller_account, service_id, service_name, price_micros, per, quantity,
  charge_micros, created_at ON orders
FOR EACH ROW EXECUTE FUNCTION refuse('an order keeps the terms it was placed on');

-- An order may go to another provider while it waits to be sent, or after an attempt that did not place it. Never to or
-- from the sandbox, which is provider 0.
CREATE TRIGGER orders_change_provider_unsent BEFORE UPDATE OF provider_id, provider_service ON orders FOR EACH ROW
WHEN ((NEW.provider_id IS DISTINCT FROM OLD.provider_id OR NEW.provider_service IS DISTINCT FROM OLD.provider_service)
  AND NOT (
    OLD.status = 'PENDING' AND NEW.placement = 'queued' AND (OLD.placement = 'sending' OR OLD.placement = 'queued')
    AND coalesce(OLD.provider_id, 0) > 0 AND coalesce(NEW.provider_id, 0) > 0
  ))
EXECUTE FUNCTION refuse('an order changes its provider only while it is not sent');

-- As orders_refer_to_rows does for new orders.
CREATE FUNCTION orders_refer_to_providers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT 1 FROM providers WHERE providers.provider_id = NEW.provider_id) IS NULL THEN
    RAISE EXCEPTION 'an order refers to a missing row' USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER orders_change_provider AFTER UPDATE OF provider_id ON orders FOR EACH ROW
WHEN (NEW.provider_id IS DISTINCT FROM OLD.provider_id) EXECUTE FUNCTION orders_refer_to_providers();

-- A number that the operator entered can be corrected until the provider reports.
CREATE TRIGGER orders_keep_provider_order BEFORE UPDATE OF provider_order ON orders FOR EACH ROW
WHEN (OLD.provider_order IS NOT NULL AND NEW.provider_order IS DISTINCT FROM OLD.provider_order
  AND (OLD.reported IS NOT NULL OR OLD.status <> 'PROCESSING'))
EXECUTE FUNCTION refuse('an order keeps the number its provider gave it');

-- Changes of an order's status after its creation: when, from what, to what, by whom, why.
CREATE TABLE order_events (
  seq bigint PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (order_id),
  from_status text COLLATE "C" NOT NULL,
  to_status text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" REFERENCES keys (id),
  operator text COLLATE "C",
  note text COLLATE "C",
  created_at bigint NOT NULL,
  CHECK (key_id IS NULL OR operator IS NULL)
);

CREATE SEQUENCE order_events_number OWNED BY order_events.seq;
CREATE INDEX order_events_by_order ON order_events (order_id, seq);

CREATE TRIGGER order_events_append_only_delete BEFORE DELETE ON order_events FOR EACH ROW
EXECUTE FUNCTION refuse('order events are append-only');

CREATE FUNCTION order_events_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.note IS NOT NULL OR to_jsonb(NEW) - 'note' IS DISTINCT FROM to_jsonb(OLD) - 'note'
    OR NOT is_erased((SELECT reseller_account FROM orders WHERE order_id = OLD.order_id)) THEN
    RAISE EXCEPTION 'order events are append-only' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER order_events_append_only_update BEFORE UPDATE ON order_events FOR EACH ROW
EXECUTE FUNCTION order_events_append_only();

-- What a provider reported for an order that had already ended here. Listed for the operator, never applied by itself.
CREATE TABLE late_reports (
  order_id bigint NOT NULL REFERENCES orders (order_id),
  reported text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  -- The remaining quantity of a PARTIAL.
  remains bigint CHECK (remains >= 0),
  -- What the operator decided.
  decision text COLLATE "C" CHECK (decision IN ('accepted', 'dismissed')),
  decided_at bigint CHECK ((decided_at IS NULL) = (decision IS NULL)),
  PRIMARY KEY (order_id, reported)
);

CREATE INDEX late_reports_open ON late_reports (order_id) WHERE decision IS NULL;

-- Requests of resellers for their orders: to cancel one, or to refill what was lost. Money moves with the order's
-- status, not with the request.
CREATE TABLE order_requests (
  request_id bigint PRIMARY KEY CHECK (request_id BETWEEN 1 AND 9007199254740991),
  id text COLLATE "C" NOT NULL UNIQUE CHECK (length(id) = 24),
  order_id bigint NOT NULL REFERENCES orders (order_id),
  reseller_account bigint NOT NULL REFERENCES users (account),
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('cancel', 'refill')),
  -- `sent` is committed before the call to the provider.
  state text COLLATE "C" NOT NULL CHECK (state IN ('requested', 'sent', 'accepted', 'declined', 'done')),
  -- Who decides. Null: the operator.
  provider_id bigint REFERENCES providers (provider_id),
  -- Sent with an unknown outcome. It is never sent again, and the operator settles it.
  unknown smallint NOT NULL DEFAULT 0 CHECK (unknown IN (0, 1) AND (unknown = 0 OR state = 'sent')),
  -- The server that is sending it.
  server text COLLATE "C" CHECK (server IS NULL OR (state = 'sent' AND unknown = 0)),
  -- The provider's number for the refill.
  provider_refill text COLLATE "C" CHECK (provider_refill IS NULL OR kind = 'refill'),
  -- When it is sent, or when the provider is asked for the state of the refill.
  next_at bigint CHECK (
    next_at IS NULL
    OR (provider_id IS NOT NULL AND (state = 'requested' OR (state = 'accepted' AND provider_refill IS NOT NULL)))
  ),
  -- How often it was certainly not sent.
  tries bigint NOT NULL DEFAULT 0 CHECK (tries >= 0),
  -- The reason, for the operator, with the provider's key masked.
  note text COLLATE "C",
  key_id text COLLATE "C" NOT NULL REFERENCES keys (id),
  created_at bigint NOT NULL,
  -- When it may have been sent.
  sent_at bigint CHECK (sent_at IS NULL OR provider_id IS NOT NULL),
  changed_at bigint NOT NULL,
  CHECK (state <> 'requested' OR (sent_at IS NULL AND (provider_id IS NULL) = (next_at IS NULL))),
  CHECK (state <> 'sent' OR sent_at IS NOT NULL)
);

CREATE SEQUENCE order_requests_number OWNED BY order_requests.request_id;
-- One open request of each kind for an order.
CREATE UNIQUE INDEX order_requests_open ON order_requests (order_id, kind)
  WHERE state = 'requested' OR state = 'sent' OR state = 'accepted';
CREATE INDEX order_requests_by_order ON order_requests (order_id, request_id);
CREATE INDEX order_requests_due ON order_requests (provider_id, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX order_requests_listed ON order_requests (request_id)
  WHERE state = 'requested' OR state = 'sent' OR state = 'accepted';

CREATE TRIGGER order_requests_keep_identity
BEFORE UPDATE OF request_id, id, order_id, reseller_account, kind, key_id, created_at ON order_requests FOR EACH ROW
EXECUTE FUNCTION refuse('a request keeps what it asks for');

CREATE TRIGGER order_requests_are_kept BEFORE DELETE ON order_requests FOR EACH ROW
EXECUTE FUNCTION refuse('requests are never deleted');

-- Only what was certainly not sent is sent again.
CREATE FUNCTION order_requests_go_forward() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.note IS NOT NULL OR to_jsonb(NEW) - 'note' IS DISTINCT FROM to_jsonb(OLD) - 'note'
    OR NOT is_erased(OLD.reseller_account) THEN
    RAISE EXCEPTION 'a request is sent once, and what became of it is kept' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER order_requests_go_forward BEFORE UPDATE ON order_requests FOR EACH ROW
WHEN (OLD.state = 'declined' OR OLD.state = 'done'
  OR (OLD.state = 'accepted' AND (NEW.state = 'requested' OR NEW.state = 'sent'))
  OR (OLD.unknown = 1 AND (NEW.state = 'requested' OR (NEW.state = 'sent' AND NEW.unknown = 0))))
EXECUTE FUNCTION order_requests_go_forward();


-- Delivery --

-- Submissions of an order to a provider. A row is committed as `sending` before the call, and finished with the
-- outcome.
CREATE TABLE attempts (
  attempt_id bigint PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (order_id),
  outcome text COLLATE "C" NOT NULL CHECK (outcome IN ('sending', 'accepted', 'refused', 'not_sent', 'unknown')),
  -- The reason, for the operator, with the provider's key masked.
  cause text COLLATE "C",
  started_at bigint NOT NULL,
  finished_at bigint,
  -- The server that makes the attempt. If it is gone and there is no outcome, nobody knows whether the order was sent.
  server text COLLATE "C",
  -- No foreign key: providers_attempted holds it, which costs an attempt nothing.
  provider_id bigint NOT NULL,
  provider_service text COLLATE "C" NOT NULL,
  CHECK ((outcome = 'sending') = (finished_at IS NULL))
);

CREATE SEQUENCE attempts_number OWNED BY attempts.attempt_id;
CREATE INDEX attempts_by_order ON attempts (order_id, attempt_id);
-- An order is placed at most once: another attempt can only follow refused or unsent ones.
CREATE UNIQUE INDEX attempts_sent_once ON attempts (order_id)
  WHERE outcome <> 'not_sent' AND outcome <> 'refused';
-- A provider that refused an order is not asked again.
CREATE UNIQUE INDEX attempts_refused_once ON attempts (order_id, provider_id, provider_service)
  WHERE outcome = 'refused';

CREATE TRIGGER attempts_keep_server BEFORE UPDATE OF server ON attempts FOR EACH ROW
EXECUTE FUNCTION refuse('an attempt keeps its server');

CREATE TRIGGER attempts_are_kept BEFORE DELETE ON attempts FOR EACH ROW
EXECUTE FUNCTION refuse('attempts are never deleted');

CREATE FUNCTION attempts_finish_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.cause IS NOT NULL OR to_jsonb(NEW) - 'cause' IS DISTINCT FROM to_jsonb(OLD) - 'cause'
    OR NOT is_erased((SELECT reseller_account FROM orders WHERE order_id = OLD.order_id)) THEN
    RAISE EXCEPTION 'an attempt is finished once and then kept' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER attempts_finish_once BEFORE UPDATE ON attempts FOR EACH ROW
WHEN (OLD.outcome <> 'sending' OR NEW.order_id <> OLD.order_id OR NEW.started_at <> OLD.started_at)
EXECUTE FUNCTION attempts_finish_once();

CREATE TRIGGER attempts_keep_route BEFORE UPDATE OF provider_id, provider_service ON attempts FOR EACH ROW
EXECUTE FUNCTION refuse('an attempt keeps its provider');

-- Open orders whose number the provider says it does not know. A row is deleted when the provider reports the order.
CREATE TABLE unrecognized_numbers (
  order_id bigint PRIMARY KEY REFERENCES orders (order_id),
  provider_order text COLLATE "C" NOT NULL,
  -- The provider's words, for the operator, with its key masked.
  cause text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL
);

-- One row each time an order's cost becomes known or changes. Basis: `charge`, what the provider charged; `rate`, from
-- the provider's rate when it states no charge; `foreign`, a charge in a currency without a known rate, which costs 0
-- until the operator settles it.
CREATE TABLE order_costs (
  seq bigint PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (order_id),
  -- Counts the costs of the order from 1.
  number bigint NOT NULL CHECK (number >= 1),
  basis text COLLATE "C" NOT NULL CHECK (basis IN ('charge', 'rate', 'foreign')),
  amount text COLLATE "C" NOT NULL CHECK (length(amount) >= 1),
  currency text COLLATE "C",
  rate_to_usd text COLLATE "C" NOT NULL CHECK (length(rate_to_usd) >= 1),
  -- What the order costs from now on, and how much that is more than before.
  cost_micros bigint NOT NULL CHECK (cost_micros BETWEEN 0 AND 9007199254740991),
  change_micros bigint NOT NULL CHECK (change_micros BETWEEN -9007199254740991 AND cost_micros),
  created_at bigint NOT NULL,
  CHECK (basis <> 'foreign' OR cost_micros = 0),
  CHECK (number > 1 OR change_micros = cost_micros)
);

CREATE SEQUENCE order_costs_number OWNED BY order_costs.seq;
CREATE UNIQUE INDEX order_costs_by_order ON order_costs (order_id, number);
CREATE INDEX order_costs_by_time ON order_costs (created_at);
CREATE INDEX order_costs_foreign ON order_costs (order_id) WHERE basis = 'foreign';

CREATE TRIGGER order_costs_append_only BEFORE UPDATE OR DELETE ON order_costs FOR EACH ROW
EXECUTE FUNCTION refuse('costs of orders are append-only');


-- Ledger --

-- The ledger. Transfers are never changed or deleted. A correction is a new transfer in the other direction.
CREATE TABLE transfers (
  seq bigint PRIMARY KEY,
  debit_account bigint NOT NULL,
  credit_account bigint NOT NULL,
  amount_micros bigint NOT NULL CHECK (amount_micros BETWEEN 1 AND 9007199254740991),
  kind text COLLATE "C" NOT NULL,
  order_id bigint,
  key_id text COLLATE "C",
  operator text COLLATE "C",
  note text COLLATE "C",
  created_at bigint NOT NULL,
  -- The balance of the user on one side of the transfer. Every transfer has exactly one such side.
  balance_after_micros bigint NOT NULL DEFAULT 0
    CHECK (balance_after_micros BETWEEN 0 AND 9000000000000000000),
  CHECK (debit_account <> credit_account),
  CHECK (key_id IS NULL OR operator IS NULL),
  CHECK (
    (order_id IS NOT NULL AND kind IN ('order', 'partial_refund', 'refund'))
    OR (order_id IS NULL AND kind IN ('recharge', 'adjustment'))
  )
);

CREATE SEQUENCE transfers_number OWNED BY transfers.seq;
-- One charge, at most one partial refund and one full refund for each order.
CREATE UNIQUE INDEX transfers_once_an_order ON transfers (order_id, kind) WHERE order_id IS NOT NULL;
CREATE INDEX transfers_by_debit ON transfers (debit_account, seq) WHERE debit_account > 2;
CREATE INDEX transfers_by_credit ON transfers (credit_account, kind, seq) WHERE credit_account > 2;
CREATE INDEX transfers_by_adjustment ON transfers (debit_account, seq) WHERE debit_account > 2 AND kind = 'adjustment';
-- Only queries that say `created_at >= 0` can use these two, so that lists by number are never sorted by them.
CREATE INDEX transfers_by_debit_time ON transfers (debit_account, created_at)
  WHERE debit_account > 2 AND created_at >= 0;
CREATE INDEX transfers_by_credit_time ON transfers (credit_account, created_at)
  WHERE credit_account > 2 AND created_at >= 0;

CREATE FUNCTION transfers_refer_to_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM (
        SELECT debit_account AS account FROM added UNION SELECT credit_account AS account FROM added
      ) AS used
      WHERE used.account IS NOT NULL AND (SELECT 1 FROM accounts WHERE accounts.account = used.account) IS NULL)
    OR EXISTS (SELECT FROM added
      WHERE order_id IS NOT NULL AND (SELECT 1 FROM orders WHERE orders.order_id = added.order_id) IS NULL)
    OR EXISTS (SELECT FROM (SELECT DISTINCT key_id AS id FROM added) AS used
      WHERE used.id IS NOT NULL AND (SELECT 1 FROM keys WHERE keys.id = used.id) IS NULL)
  THEN
    RAISE EXCEPTION 'a transfer refers to a missing row' USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER transfers_refer_to_rows AFTER INSERT ON transfers REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION transfers_refer_to_rows();

CREATE TRIGGER transfers_append_only_delete BEFORE DELETE ON transfers FOR EACH ROW
EXECUTE FUNCTION refuse('transfers are append-only');

CREATE FUNCTION transfers_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.note IS NOT NULL OR to_jsonb(NEW) - 'note' IS DISTINCT FROM to_jsonb(OLD) - 'note'
    OR NOT (is_erased(OLD.debit_account) OR is_erased(OLD.credit_account)) THEN
    RAISE EXCEPTION 'transfers are append-only' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER transfers_append_only_update BEFORE UPDATE ON transfers FOR EACH ROW
EXECUTE FUNCTION transfers_append_only();

-- What only some transfers have: the operator's reference, unique for each user, and a note that the user sees. The
-- note of the transfer itself is for operators.
CREATE TABLE transfer_details (
  seq bigint PRIMARY KEY REFERENCES transfers (seq),
  account bigint NOT NULL REFERENCES users (account),
  reference text COLLATE "C" CHECK (length(reference) BETWEEN 1 AND 64),
  public_note text COLLATE "C" CHECK (length(public_note) >= 1),
  CHECK (reference IS NOT NULL OR public_note IS NOT NULL)
);

CREATE UNIQUE INDEX transfer_details_by_reference ON transfer_details (account, reference) WHERE reference IS NOT NULL;

CREATE TRIGGER transfer_details_append_only_delete BEFORE DELETE ON transfer_details FOR EACH ROW
EXECUTE FUNCTION refuse('transfers are append-only');

-- Except for the texts of an erased user.
CREATE FUNCTION transfer_details_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.reference IS NOT NULL OR NEW.public_note IS DISTINCT FROM 'erased' OR NEW.seq <> OLD.seq
    OR NEW.account <> OLD.account OR NOT is_erased(OLD.account) THEN
    RAISE EXCEPTION 'transfers are append-only' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
-- Except for the texts of an erased user.
CREATE TRIGGER transfer_details_append_only_update BEFORE UPDATE ON transfer_details FOR EACH ROW
EXECUTE FUNCTION transfer_details_append_only();


-- Webhooks --

-- Endpoints of resellers, for events of their orders, and of the operator, for alerts. Secrets are in clear, because
-- signing needs them. A deleted endpoint has no secret. Its row is kept until its deliveries are gone.
CREATE TABLE webhooks (
  webhook_id bigint PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE CHECK (length(id) = 24),
  -- Null: the operator.
  reseller_account bigint REFERENCES users (account),
  -- Of the operator's: the Telegram chat to send to. The secret is then the bot's token. Null: send to the URL.
  telegram_chat text COLLATE "C"
    CHECK (telegram_chat IS NULL OR (length(telegram_chat) BETWEEN 1 AND 64 AND reseller_account IS NULL)),
  url text COLLATE "C" NOT NULL
    CHECK (length(url) BETWEEN 1 AND 2048 AND (url ILIKE 'http://%' OR url ILIKE 'https://%')),
  -- Event types, separated by commas.
  events text COLLATE "C" NOT NULL CHECK (length(events) >= 1),
  balance_low_below bigint CHECK (balance_low_below > 0),
  secret text COLLATE "C" NOT NULL CHECK ((secret = '') = (deleted_at IS NOT NULL)),
  -- The secret before, which signs deliveries too until previous_until.
  previous_secret text COLLATE "C" CHECK ((previous_secret IS NULL) = (previous_until IS NULL)),
  previous_until bigint,
  -- Secrets from before previous_secret, as JSON, each with the time until which it signs deliveries.
  older_secrets text COLLATE "C" NOT NULL DEFAULT '[]' CHECK (length(older_secrets) >= 2),
  active smallint NOT NULL CHECK (active IN (0, 1)),
  disabled_reason text COLLATE "C" CHECK (disabled_reason IN ('failures', 'gone', 'operator', 'owner')),
  disabled_at bigint,
  -- How many attempts failed since the last success, and when the first of them did.
  failures bigint NOT NULL DEFAULT 0 CHECK (failures >= 0),
  failing_since bigint CHECK ((failing_since IS NULL) = (failures = 0)),
  created_at bigint NOT NULL,
  deleted_at bigint,
  CHECK ((disabled_reason IS NULL) = (active = 1) AND (disabled_at IS NULL) = (active = 1)),
  CHECK (deleted_at IS NULL OR active = 0)
);

CREATE SEQUENCE webhooks_number OWNED BY webhooks.webhook_id;
CREATE INDEX webhooks_by_reseller ON webhooks (reseller_account, webhook_id) WHERE deleted_at IS NULL;
CREATE INDEX webhooks_deleted ON webhooks (webhook_id) WHERE deleted_at IS NOT NULL;

CREATE FUNCTION webhooks_belong_to_resellers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT parent_account IS NOT NULL FROM users WHERE account = NEW.reseller_account) THEN
    RAISE EXCEPTION 'a webhook belongs to a reseller, never to a child user' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER webhooks_belong_to_resellers BEFORE INSERT ON webhooks FOR EACH ROW
EXECUTE FUNCTION webhooks_belong_to_resellers();

CREATE TRIGGER webhooks_keep_identity
BEFORE UPDATE OF webhook_id, id, reseller_account, telegram_chat, created_at ON webhooks
FOR EACH ROW EXECUTE FUNCTION refuse('a webhook keeps its id and its reseller');

-- Written in the transaction of the change. Every attempt sends the body, byte for byte.
CREATE TABLE webhook_events (
  event_id bigint PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE CHECK (length(id) = 28),
  -- Null: an alert.
  reseller_account bigint REFERENCES users (account),
  type text COLLATE "C" NOT NULL CHECK (length(type) >= 1),
  order_id bigint REFERENCES orders (order_id),
  -- The place among the order's events.
  sequence bigint CHECK ((sequence IS NULL) = (order_id IS NULL) AND sequence >= 1),
  body text COLLATE "C" NOT NULL CHECK (length(body) >= 2),
  created_at bigint NOT NULL,
  CHECK (reseller_account IS NOT NULL OR order_id IS NULL)
);

CREATE SEQUENCE webhook_events_number OWNED BY webhook_events.event_id;
CREATE UNIQUE INDEX webhook_events_by_order ON webhook_events (order_id, sequence) WHERE order_id IS NOT NULL;
CREATE INDEX webhook_events_by_time ON webhook_events (created_at);

CREATE TRIGGER webhook_events_are_kept BEFORE UPDATE ON webhook_events FOR EACH ROW
EXECUTE FUNCTION refuse('an event is never changed');

-- The delivery of an event to an endpoint. `waiting`: due at due_at. `sending`: a server is sending it, and due_at is
-- when that lease ends and the delivery is due again.
CREATE TABLE webhook_deliveries (
  delivery_id bigint PRIMARY KEY,
  webhook_id bigint NOT NULL REFERENCES webhooks (webhook_id),
  event_id bigint NOT NULL REFERENCES webhook_events (event_id),
  state text COLLATE "C" NOT NULL CHECK (state IN ('waiting', 'sending', 'delivered', 'failed')),
  due_at bigint CHECK ((due_at IS NOT NULL) = (state IN ('waiting', 'sending'))),
  server text COLLATE "C" CHECK ((server IS NOT NULL) = (state = 'sending')),
  -- Attempts that were started, replays included.
  attempts bigint NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  -- Failed attempts of the schedule, which ends at `tries`.
  failures bigint NOT NULL DEFAULT 0 CHECK (failures BETWEEN 0 AND tries),
  tries bigint NOT NULL CHECK (tries >= 1),
  -- A replay was asked for. It is sent to a disabled endpoint too, and does not count if it fails.
  replay smallint NOT NULL DEFAULT 0 CHECK (replay IN (0, 1)),
  UNIQUE (webhook_id, event_id)
);

CREATE SEQUENCE webhook_deliveries_number OWNED BY webhook_deliveries.delivery_id;
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, due_at, delivery_id)
  WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_replayed ON webhook_deliveries (webhook_id, due_at, delivery_id)
  WHERE due_at IS NOT NULL AND replay = 1;
CREATE INDEX webhook_deliveries_sending ON webhook_deliveries (webhook_id) WHERE state = 'sending';
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (webhook_id) WHERE state = 'failed';
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (event_id);

-- The outcome of each attempt. `error` is null after a success.
CREATE TABLE webhook_attempts (
  seq bigint PRIMARY KEY,
  delivery_id bigint NOT NULL REFERENCES webhook_deliveries (delivery_id),
  webhook_id bigint NOT NULL REFERENCES webhooks (webhook_id),
  attempt bigint NOT NULL CHECK (attempt >= 1),
  at bigint NOT NULL,
  duration_ms bigint NOT NULL CHECK (duration_ms >= 0),
  http_status bigint CHECK (http_status BETWEEN 100 AND 999),
  error text COLLATE "C" CHECK (length(error) >= 1),
  -- The beginning of the response's body.
  response text COLLATE "C",
  UNIQUE (delivery_id, attempt)
);

CREATE SEQUENCE webhook_attempts_number OWNED BY webhook_attempts.seq;
CREATE INDEX webhook_attempts_by_webhook ON webhook_attempts (webhook_id, seq);
CREATE INDEX webhook_attempts_by_time ON webhook_attempts (at);

CREATE TRIGGER webhook_attempts_are_kept BEFORE UPDATE ON webhook_attempts FOR EACH ROW
EXECUTE FUNCTION refuse('what came of an attempt is never changed');

-- Problems that the operator is told of, once at the beginning and once at the end. An open alert that becomes much
-- worse is told again.
CREATE TABLE alerts (
  seq bigint PRIMARY KEY,
  kind text COLLATE "C" NOT NULL CHECK (length(kind) BETWEEN 1 AND 64),
  subject text COLLATE "C" NOT NULL CHECK (length(subject) >= 1),
  message text COLLATE "C" NOT NULL CHECK (length(message) >= 1),
  raised_at bigint NOT NULL,
  -- Null: the problem goes on.
  resolved_at bigint,
  -- How bad it was when the operator was last notified. 0: this kind has no amount.
  notified_amount bigint NOT NULL DEFAULT 0 CHECK (notified_amount >= 0),
  -- When the operator was last notified. Null: when it was raised.
  notified_at bigint
);

CREATE SEQUENCE alerts_number OWNED BY alerts.seq;
CREATE UNIQUE INDEX alerts_open ON alerts (kind, subject) WHERE resolved_at IS NULL;
CREATE INDEX alerts_resolved ON alerts (resolved_at) WHERE resolved_at IS NOT NULL;

CREATE TRIGGER alerts_end_once BEFORE UPDATE ON alerts FOR EACH ROW
WHEN (OLD.resolved_at IS NOT NULL OR NEW.kind <> OLD.kind OR NEW.subject <> OLD.subject OR NEW.raised_at <> OLD.raised_at)
EXECUTE FUNCTION refuse('an alert ends once, and keeps what it is about');


-- Administrators --

-- People who use the panel. Names stay, because the audit log has them. An administrator without a password has not
-- accepted the invitation yet.
CREATE TABLE administrators (
  name text COLLATE "C" PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 32),
  role text COLLATE "C" NOT NULL CHECK (role IN ('support', 'operator', 'owner')),
  active smallint NOT NULL CHECK (active IN (0, 1)),
  -- argon2id with its parameters and salt.
  password_hash text COLLATE "C",
  -- SHA-256 of the token of an open invitation.
  invitation_hash text COLLATE "C" UNIQUE CHECK (length(invitation_hash) = 64),
  invited_until bigint,
  -- Base32. Offered: shown to the administrator, who has not yet proved that an authenticator has it.
  totp_secret text COLLATE "C",
  offered_secret text COLLATE "C",
  -- The step of the last accepted code. No code is accepted twice.
  totp_step bigint NOT NULL DEFAULT 0,
  created_at bigint NOT NULL,
  signed_in_at bigint,
  CHECK ((invitation_hash IS NULL) = (invited_until IS NULL))
);

CREATE TRIGGER administrators_stay BEFORE DELETE ON administrators FOR EACH ROW
EXECUTE FUNCTION refuse('administrators are disabled, not deleted');

-- Codes that replace the second factor. Each works once.
CREATE TABLE recovery_codes (
  administrator text COLLATE "C" NOT NULL REFERENCES administrators (name),
  -- SHA-256 of the code.
  hash text COLLATE "C" NOT NULL CHECK (length(hash) = 64),
  PRIMARY KEY (administrator, hash)
);

-- Sessions of the panel.
CREATE TABLE panel_sessions (
  id text COLLATE "C" PRIMARY KEY CHECK (length(id) >= 16),
  -- SHA-256 of the secret, which only the browser has.
  hash text COLLATE "C" NOT NULL CHECK (length(hash) = 64),
  administrator text COLLATE "C" NOT NULL REFERENCES administrators (name),
  -- The password was right, the second factor is missing.
  awaits_code smallint NOT NULL CHECK (awaits_code IN (0, 1)),
  created_at bigint NOT NULL,
  -- Written at most once a minute.
  seen_at bigint NOT NULL,
  -- When the password or a code was last entered.
  proved_at bigint NOT NULL,
  address text COLLATE "C" NOT NULL,
  user_agent text COLLATE "C" NOT NULL CHECK (length(user_agent) <= 200),
  -- Wrong passwords and codes since the last right one. Too many end the session.
  failures bigint NOT NULL DEFAULT 0 CHECK (failures >= 0)
);

CREATE INDEX panel_sessions_by_administrator ON panel_sessions (administrator);

-- Networks that each administrator signed in from lately. Failed attempts of others do not delay sign-ins from there.
CREATE TABLE known_networks (
  administrator text COLLATE "C" NOT NULL REFERENCES administrators (name),
  -- As in sign_in_attempts.
  network text COLLATE "C" NOT NULL,
  signed_in_at bigint NOT NULL,
  PRIMARY KEY (administrator, network)
);

-- Attempts with a password, a code or an invitation. A row is written before the attempt is checked, and deleted if it
-- succeeds. So the rows are the failures, and simultaneous attempts cannot pass the limit together.
CREATE TABLE sign_in_attempts (
  seq bigint PRIMARY KEY,
  at bigint NOT NULL,
  address text COLLATE "C" NOT NULL,
  -- The address, or the network of an IPv6 address.
  network text COLLATE "C" NOT NULL,
  -- 32 bits of the hash of the entered name, of unknown names too, because somebody may enter a password there.
  name_tag bigint NOT NULL,
  administrator text COLLATE "C" REFERENCES administrators (name),
  user_agent text COLLATE "C" NOT NULL CHECK (length(user_agent) <= 200)
);

CREATE SEQUENCE sign_in_attempts_number OWNED BY sign_in_attempts.seq;
CREATE INDEX sign_in_attempts_by_network ON sign_in_attempts (network, at);
CREATE INDEX sign_in_attempts_by_name ON sign_in_attempts (name_tag, at);

-- Forms that were confirmed lately. A form that is sent twice counts once.
CREATE TABLE confirmations (
  id text COLLATE "C" PRIMARY KEY CHECK (length(id) BETWEEN 16 AND 64),
  at bigint NOT NULL
);

-- Every change by an operator or a key, written in the transaction of the change. `before` and `after` are JSON objects
-- of what differs, never of secrets.
CREATE TABLE audit (
  seq bigint PRIMARY KEY,
  created_at bigint NOT NULL,
  key_id text COLLATE "C" REFERENCES keys (id),
  operator text COLLATE "C",
  action text COLLATE "C" NOT NULL CHECK (length(action) >= 1),
  subject text COLLATE "C" NOT NULL CHECK (length(subject) >= 1),
  -- The user that the change concerns. Null: no user, or all.
  account bigint REFERENCES users (account),
  before text COLLATE "C" CHECK (json_typeof(before::json) = 'object'),
  after text COLLATE "C" CHECK (json_typeof(after::json) = 'object'),
  CHECK ((key_id IS NULL) <> (operator IS NULL)),
  CHECK (before IS NOT NULL OR after IS NOT NULL)
);

CREATE SEQUENCE audit_number OWNED BY audit.seq;
CREATE INDEX audit_by_account ON audit (account, seq) WHERE account IS NOT NULL;
-- What happened to one thing, such as the prices of a service, and what one operator did. Entries of keys are only in
-- the first.
CREATE INDEX audit_by_subject ON audit (subject, seq);
CREATE INDEX audit_by_operator ON audit (operator, seq) WHERE operator IS NOT NULL;

CREATE TRIGGER audit_append_only_delete BEFORE DELETE ON audit FOR EACH ROW
EXECUTE FUNCTION refuse('the audit log is append-only');

CREATE FUNCTION audit_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF to_jsonb(NEW) - 'subject' - 'before' - 'after' IS DISTINCT FROM to_jsonb(OLD) - 'subject' - 'before' - 'after'
    OR NOT (is_erased(OLD.account)
      OR is_erased((SELECT parent_account FROM users WHERE account = OLD.account))) THEN
    RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER audit_append_only_update BEFORE UPDATE ON audit FOR EACH ROW
EXECUTE FUNCTION audit_append_only();


-- Reports --

-- Totals of the rows up to totals_position, by day (days since 1970 in UTC) and by service, reseller or provider ('':
-- delivered by hand). Test orders are not counted.
CREATE TABLE daily_totals (
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('service', 'reseller', 'provider')),
  day bigint NOT NULL,
  key text COLLATE "C" NOT NULL,
  orders bigint NOT NULL,
  revenue_micros bigint NOT NULL,
  refunds_micros bigint NOT NULL,
  cost_micros bigint NOT NULL,
  PRIMARY KEY (kind, day, key)
);

-- The last rows that daily_totals counts, and the goal up to which rows are counted next. On PostgreSQL they are
-- counted once no transaction before goal_transaction is open. It is 0 until a goal is set, and always on SQLite, which
-- has one writer.
CREATE TABLE totals_position (
  id bigint PRIMARY KEY CHECK (id = 1),
  orders bigint NOT NULL DEFAULT 0,
  transfers bigint NOT NULL DEFAULT 0,
  costs bigint NOT NULL DEFAULT 0,
  goal_orders bigint NOT NULL DEFAULT 0 CHECK (goal_orders >= orders),
  goal_transfers bigint NOT NULL DEFAULT 0 CHECK (goal_transfers >= transfers),
  goal_costs bigint NOT NULL DEFAULT 0 CHECK (goal_costs >= costs),
  goal_transaction bigint NOT NULL DEFAULT 0
);

INSERT INTO totals_position (id) VALUES (1);


-- The database itself --

-- What a request with an Idempotency-Key did, so that a repetition does nothing and gets the same response. Written in
-- the transaction of its effect: an order, or the transfer of a recharge. Without a response, the request still waits
-- for the order's provider, or the process died before it responded.
CREATE TABLE idempotency (
  seq bigint PRIMARY KEY,
  reseller_account bigint NOT NULL,
  key text COLLATE "C" NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
  request_hash text COLLATE "C" NOT NULL CHECK (length(request_hash) = 64),
  order_id bigint,
  transfer_seq bigint,
  response_status bigint CHECK (response_status BETWEEN 200 AND 599),
  response_body text COLLATE "C",
  -- The results of a batch, one for each order, in case its response was never given.
  results text COLLATE "C" CHECK (results IS NULL OR order_id IS NOT NULL),
  created_at bigint NOT NULL,
  -- The uptime when the key was used. Its age is measured in uptime, so setting the clock does not change it.
  uptime bigint NOT NULL DEFAULT 0 CHECK (uptime >= 0),
  UNIQUE (reseller_account, key),
  CHECK ((order_id IS NULL) <> (transfer_seq IS NULL)),
  CHECK ((response_status IS NULL) = (response_body IS NULL)),
  CHECK (transfer_seq IS NULL OR response_body IS NOT NULL)
);

CREATE SEQUENCE idempotency_number OWNED BY idempotency.seq;
CREATE INDEX idempotency_by_age ON idempotency (uptime);

CREATE TRIGGER idempotency_keeps_its_effect
BEFORE UPDATE OF seq, reseller_account, key, request_hash, order_id, transfer_seq, results, created_at, uptime
ON idempotency
FOR EACH ROW EXECUTE FUNCTION refuse('a used key keeps what it did');

CREATE TRIGGER idempotency_keeps_its_response BEFORE UPDATE ON idempotency FOR EACH ROW
WHEN (OLD.response_body IS NOT NULL) EXECUTE FUNCTION refuse('a given response is never changed');

CREATE FUNCTION idempotency_refers_to_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM (SELECT DISTINCT reseller_account AS account FROM added) AS used
      WHERE used.account IS NOT NULL AND (SELECT 1 FROM users WHERE users.account = used.account) IS NULL)
    OR EXISTS (SELECT FROM added
      WHERE order_id IS NOT NULL AND (SELECT 1 FROM orders WHERE orders.order_id = added.order_id) IS NULL)
    OR EXISTS (SELECT FROM added
      WHERE transfer_seq IS NOT NULL AND (SELECT 1 FROM transfers WHERE transfers.seq = added.transfer_seq) IS NULL)
  THEN
    RAISE EXCEPTION 'an idempotency record refers to a missing row' USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER idempotency_refers_to_rows AFTER INSERT ON idempotency REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION idempotency_refers_to_rows();

-- How long servers have run on this database, by a monotonic clock. It grows no faster than real time, whatever the
-- wall clock is set to, and stands still while no server runs.
CREATE TABLE uptime (
  id bigint PRIMARY KEY CHECK (id = 1),
  milliseconds bigint NOT NULL CHECK (milliseconds >= 0)
);

INSERT INTO uptime (id, milliseconds) VALUES (1, 0);

CREATE TRIGGER uptime_only_grows BEFORE UPDATE ON uptime FOR EACH ROW
WHEN (NEW.milliseconds < OLD.milliseconds) EXECUTE FUNCTION refuse('uptime only grows');

CREATE TRIGGER uptime_stays BEFORE DELETE ON uptime FOR EACH ROW EXECUTE FUNCTION refuse('uptime only grows');

-- The servers of this database, from start to stop. A server that was killed loses its lease.
CREATE TABLE servers (
  id text COLLATE "C" PRIMARY KEY CHECK (length(id) = 24),
  name text COLLATE "C" NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
  started_at bigint NOT NULL,
  lease_until bigint NOT NULL
);

-- One row for each transaction that was sent to be committed: after a lost connection its server asks whether the row
-- is there. `void`: it asked first, so the transaction can never commit. Ids grow with time, so old ones are easy to
-- delete.
CREATE TABLE batches (
  id uuid PRIMARY KEY,
  void boolean NOT NULL DEFAULT false
);
