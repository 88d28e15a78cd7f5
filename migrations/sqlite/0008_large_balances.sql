-- Refunds may raise a balance above the limit of credits, and above 2^53 - 1, where the CHECKs so far ended. A balance
-- never exceeds what was deposited: the account's credits from cash less its debits to cash. Refunds and orders do not
-- change that, and a credit is refused where it would pass 9e18, so no refund can exceed a 64-bit integer.

CREATE TABLE new_users (
  account INTEGER PRIMARY KEY REFERENCES accounts (account),
  id TEXT NOT NULL UNIQUE CHECK (length(id) = 24),
  username TEXT NOT NULL COLLATE NOCASE UNIQUE CHECK (length(username) BETWEEN 1 AND 64),
  name TEXT NOT NULL,
  parent_account INTEGER REFERENCES users (account),
  balance_micros INTEGER NOT NULL DEFAULT 0,
  deposited_micros INTEGER NOT NULL DEFAULT 0 CHECK (deposited_micros BETWEEN 0 AND 9000000000000000000),
  created_at INTEGER NOT NULL,
  CHECK (balance_micros BETWEEN 0 AND deposited_micros)
) STRICT;

INSERT INTO new_users
SELECT account, id, username, name, parent_account, balance_micros,
  -- In two halves: sum() fails where a sum of its own passes 64 bits, though the difference does not.
  coalesce((SELECT sum(amount / 1000000000) * 1000000000 + sum(amount % 1000000000) FROM (
    SELECT amount_micros AS amount FROM transfers
    WHERE credit_account = users.account AND credit_account > 2 AND kind IN ('recharge', 'adjustment')
    UNION ALL
    SELECT -amount_micros FROM transfers
    WHERE debit_account = users.account AND debit_account > 2 AND kind = 'adjustment')), 0),
  created_at
FROM users ORDER BY account;

-- It reads users: SQLite refuses to rename a table while a trigger refers to one that is gone.
DROP TRIGGER keys_belong_to_resellers;

DROP TABLE users;

ALTER TABLE new_users RENAME TO users;

CREATE INDEX users_by_parent ON users (parent_account) WHERE parent_account IS NOT NULL;

CREATE TRIGGER users_parent_is_reseller BEFORE INSERT ON users
WHEN NEW.parent_account IS NOT NULL
  AND (SELECT parent_account IS NOT NULL FROM users WHERE account = NEW.parent_account)
BEGIN SELECT RAISE(ABORT, 'the parent of a child user must be a reseller'); END;

CREATE TRIGGER users_keep_identity BEFORE UPDATE OF account, id, parent_account ON users
BEGIN SELECT RAISE(ABORT, 'a user keeps its account, id and parent'); END;

CREATE TRIGGER users_are_kept BEFORE DELETE ON users
BEGIN SELECT RAISE(ABORT, 'users are never deleted'); END;

CREATE TRIGGER keys_belong_to_resellers BEFORE INSERT ON keys
WHEN (SELECT parent_account IS NOT NULL FROM users WHERE account = NEW.reseller_account)
BEGIN SELECT RAISE(ABORT, 'a key belongs to a reseller, never to a child user'); END;

CREATE TABLE new_transfers (
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
  -- Of the user on one side of the transfer, once it was posted: every transfer has one such side.
  balance_after_micros INTEGER NOT NULL DEFAULT 0
    CHECK (balance_after_micros BETWEEN 0 AND 9000000000000000000),
  CHECK (debit_account <> credit_account),
  CHECK (key_id IS NULL OR operator IS NULL),
  CHECK (
    (order_id IS NOT NULL AND (kind = 'order' OR kind = 'partial_refund' OR kind = 'refund'))
    OR (order_id IS NULL AND (kind = 'recharge' OR kind = 'adjustment'))
  )
) STRICT;

INSERT INTO new_transfers SELECT * FROM transfers ORDER BY seq;

DROP TABLE transfers;

ALTER TABLE new_transfers RENAME TO transfers;

-- One charge, at most one partial and one full refund an order.
CREATE UNIQUE INDEX transfers_once_an_order ON transfers (order_id, kind) WHERE order_id IS NOT NULL;
CREATE INDEX transfers_by_debit ON transfers (debit_account, seq) WHERE debit_account > 2;
CREATE INDEX transfers_by_credit ON transfers (credit_account, kind, seq) WHERE credit_account > 2;
CREATE INDEX transfers_by_adjustment ON transfers (debit_account, seq)
  WHERE debit_account > 2 AND kind = 'adjustment';

CREATE TRIGGER transfers_append_only_update BEFORE UPDATE ON transfers
BEGIN SELECT RAISE(ABORT, 'transfers are append-only'); END;

CREATE TRIGGER transfers_append_only_delete BEFORE DELETE ON transfers
BEGIN SELECT RAISE(ABORT, 'transfers are append-only'); END;

CREATE TRIGGER transfers_note_clock_step AFTER INSERT ON transfers
WHEN NEW.created_at < (SELECT created_at FROM transfers WHERE seq < NEW.seq ORDER BY seq DESC LIMIT 1)
BEGIN
  INSERT INTO clock_steps SELECT 'transfers', NEW.seq, NEW.created_at, created_at
  FROM transfers WHERE seq < NEW.seq ORDER BY seq DESC LIMIT 1;
END;
