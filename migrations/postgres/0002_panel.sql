-- A deactivated user's keys are inactive; the user, its balance and its orders stay.
ALTER TABLE users ADD COLUMN active smallint NOT NULL DEFAULT 1 CHECK (active IN (0, 1));

-- Inactive because its user is: it is active again once the user is.
ALTER TABLE keys ADD COLUMN suspended smallint NOT NULL DEFAULT 0
  CHECK (suspended IN (0, 1) AND (suspended = 0 OR active = 0));

-- What happened to one thing (the price history of a service), and what one operator did. Entries of keys are in the first
-- alone.
CREATE INDEX audit_by_subject ON audit (subject, seq);
CREATE INDEX audit_by_operator ON audit (operator, seq) WHERE operator IS NOT NULL;

-- Those who use the panel. A name stays with its person: it is in the audit log. Without a password an administrator has
-- been invited and has not answered yet.
CREATE TABLE administrators (
  name text COLLATE "C" PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 32),
  role text COLLATE "C" NOT NULL CHECK (role IN ('support', 'operator', 'owner')),
  active smallint NOT NULL CHECK (active IN (0, 1)),
  -- argon2id with its parameters and its salt.
  password_hash text COLLATE "C",
  -- SHA-256 of the token of an open invitation.
  invitation_hash text COLLATE "C" UNIQUE CHECK (length(invitation_hash) = 64),
  invited_until bigint,
  -- Base32. Offered: shown to its owner, who has not proved yet that an authenticator has it.
  totp_secret text COLLATE "C",
  offered_secret text COLLATE "C",
  -- The step of the last code that was taken: no code is taken twice.
  totp_step bigint NOT NULL DEFAULT 0,
  created_at bigint NOT NULL,
  signed_in_at bigint,
  CHECK ((invitation_hash IS NULL) = (invited_until IS NULL))
);

CREATE TRIGGER administrators_stay BEFORE DELETE ON administrators FOR EACH ROW
EXECUTE FUNCTION refuse('administrators are disabled, not deleted');

-- Of the second factor: each works once.
CREATE TABLE recovery_codes (
  administrator text COLLATE "C" NOT NULL REFERENCES administrators (name),
  -- SHA-256 of the code.
  hash text COLLATE "C" NOT NULL CHECK (length(hash) = 64),
  PRIMARY KEY (administrator, hash)
);

CREATE TABLE panel_sessions (
  id text COLLATE "C" PRIMARY KEY CHECK (length(id) >= 16),
  -- SHA-256 of the secret, which the browser alone has.
  hash text COLLATE "C" NOT NULL CHECK (length(hash) = 64),
  administrator text COLLATE "C" NOT NULL REFERENCES administrators (name),
  -- The password was right, the second factor is missing.
  awaits_code smallint NOT NULL CHECK (awaits_code IN (0, 1)),
  created_at bigint NOT NULL,
  -- Written at most once a minute.
  seen_at bigint NOT NULL,
  -- The last password or code.
  proved_at bigint NOT NULL,
  address text COLLATE "C" NOT NULL,
  user_agent text COLLATE "C" NOT NULL CHECK (length(user_agent) <= 200)
);

CREATE INDEX panel_sessions_by_administrator ON panel_sessions (administrator);

-- Each try with a password, a code or an invitation, from before it is judged; one that succeeds is deleted. So the rows
-- are the failures, and tries at the same time cannot pass the limit together.
CREATE TABLE sign_in_attempts (
  seq bigint PRIMARY KEY,
  at bigint NOT NULL,
  address text COLLATE "C" NOT NULL,
  -- The address, or the network of an IPv6 address.
  network text COLLATE "C" NOT NULL,
  -- 32 bits of the hash of the name that was typed, for names that nobody has too: someone may type a password there.
  name_tag bigint NOT NULL,
  administrator text COLLATE "C" REFERENCES administrators (name),
  user_agent text COLLATE "C" NOT NULL CHECK (length(user_agent) <= 200)
);

CREATE SEQUENCE sign_in_attempts_number OWNED BY sign_in_attempts.seq;
CREATE INDEX sign_in_attempts_by_network ON sign_in_attempts (network, at);
CREATE INDEX sign_in_attempts_by_name ON sign_in_attempts (name_tag, at);

-- What was confirmed, for a while: a form that is sent twice counts once.
CREATE TABLE confirmations (
  id text COLLATE "C" PRIMARY KEY CHECK (length(id) BETWEEN 16 AND 64),
  at bigint NOT NULL
);
