-- People of resellers, who use the portal. Rows stay, because audit log and orders name them. A member without a password
-- has not accepted the invitation yet.
CREATE TABLE members (
  id text COLLATE "C" PRIMARY KEY CHECK (length(id) = 24),
  account bigint NOT NULL REFERENCES users (account),
  email text COLLATE "C" NOT NULL CHECK (length(email) BETWEEN 3 AND 254),
  name text COLLATE "C" NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  role text COLLATE "C" NOT NULL CHECK (role IN ('viewer', 'developer', 'buyer', 'owner')),
  language text COLLATE "C" NOT NULL CHECK (length(language) BETWEEN 2 AND 10),
  -- IANA name, such as Europe/Madrid.
  time_zone text COLLATE "C" NOT NULL CHECK (length(time_zone) BETWEEN 1 AND 64),
  -- The kinds of e-mails that the member wants, separated by commas.
  mails text COLLATE "C" NOT NULL CHECK (length(mails) <= 200),
  active smallint NOT NULL CHECK (active IN (0, 1)),
  -- The columns below as in administrators.
  password_hash text COLLATE "C",
  invitation_hash text COLLATE "C" UNIQUE CHECK (length(invitation_hash) = 64),
  invited_until bigint,
  totp_secret text COLLATE "C",
  offered_secret text COLLATE "C",
  totp_step bigint NOT NULL DEFAULT 0,
  created_at bigint NOT NULL,
  signed_in_at bigint,
  CHECK ((invitation_hash IS NULL) = (invited_until IS NULL))
);

CREATE UNIQUE INDEX members_by_email ON members (lower(email));
CREATE INDEX members_by_account ON members (account);

CREATE TRIGGER members_stay BEFORE DELETE ON members FOR EACH ROW
EXECUTE FUNCTION refuse('members are disabled, not deleted');

CREATE TRIGGER members_keep_identity
BEFORE UPDATE OF id, account, created_at ON members FOR EACH ROW
EXECUTE FUNCTION refuse('a member stays with its reseller');

CREATE TABLE member_recovery_codes (
  member text COLLATE "C" NOT NULL REFERENCES members (id),
  hash text COLLATE "C" NOT NULL CHECK (length(hash) = 64),
  PRIMARY KEY (member, hash)
);

-- Sessions of the portal, as in panel_sessions.
CREATE TABLE member_sessions (
  id text COLLATE "C" PRIMARY KEY CHECK (length(id) >= 16),
  hash text COLLATE "C" NOT NULL CHECK (length(hash) = 64),
  member text COLLATE "C" NOT NULL REFERENCES members (id),
  awaits_code smallint NOT NULL CHECK (awaits_code IN (0, 1)),
  created_at bigint NOT NULL,
  seen_at bigint NOT NULL,
  proved_at bigint NOT NULL,
  address text COLLATE "C" NOT NULL,
  user_agent text COLLATE "C" NOT NULL CHECK (length(user_agent) <= 200),
  failures bigint NOT NULL DEFAULT 0 CHECK (failures >= 0)
);

CREATE INDEX member_sessions_by_member ON member_sessions (member);

CREATE TABLE member_networks (
  member text COLLATE "C" NOT NULL REFERENCES members (id),
  network text COLLATE "C" NOT NULL,
  signed_in_at bigint NOT NULL,
  PRIMARY KEY (member, network)
);

-- As in sign_in_attempts.
CREATE TABLE member_attempts (
  seq bigint PRIMARY KEY,
  at bigint NOT NULL,
  address text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  name_tag bigint NOT NULL,
  member text COLLATE "C" REFERENCES members (id),
  user_agent text COLLATE "C" NOT NULL CHECK (length(user_agent) <= 200)
);

CREATE SEQUENCE member_attempts_number OWNED BY member_attempts.seq;
CREATE INDEX member_attempts_by_network ON member_attempts (network, at);
CREATE INDEX member_attempts_by_name ON member_attempts (name_tag, at);

-- Visitors who asked for an account and wait for the operator. A row is deleted once it is decided.
CREATE TABLE registrations (
  id text COLLATE "C" PRIMARY KEY CHECK (length(id) = 24),
  email text COLLATE "C" NOT NULL CHECK (length(email) BETWEEN 3 AND 254),
  name text COLLATE "C" NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  language text COLLATE "C" NOT NULL CHECK (length(language) BETWEEN 2 AND 10),
  created_at bigint NOT NULL
);

CREATE UNIQUE INDEX registrations_by_email ON registrations (lower(email));
CREATE INDEX registrations_by_age ON registrations (created_at);

-- What the portal allows to a reseller, where it differs from the defaults.
CREATE TABLE portal_settings (
  account bigint PRIMARY KEY REFERENCES users (account),
  active smallint NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
  -- The most powerful keys that members may create.
  keys text COLLATE "C" NOT NULL DEFAULT 'order' CHECK (keys IN ('order', 'recharge', 'full')),
  -- Members are told of a balance below this. Null: never.
  low_balance_micros bigint CHECK (low_balance_micros > 0)
);

-- Requests are also made by members, who have no key.
ALTER TABLE order_requests ADD COLUMN operator text COLLATE "C";
ALTER TABLE order_requests ALTER COLUMN key_id DROP NOT NULL;
ALTER TABLE order_requests ADD CHECK ((key_id IS NULL) <> (operator IS NULL));
DROP TRIGGER order_requests_keep_identity ON order_requests;
CREATE TRIGGER order_requests_keep_identity
BEFORE UPDATE OF request_id, id, order_id, reseller_account, kind, key_id, operator, created_at ON order_requests
FOR EACH ROW
EXECUTE FUNCTION refuse('a request keeps what it asks for');
