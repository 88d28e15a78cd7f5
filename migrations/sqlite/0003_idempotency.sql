-- What a request with an Idempotency-Key did, so that its duplicates do nothing and get its answer.
-- Written in the transaction of the effect: an order, or the transfer of a recharge. No answer yet means
-- that the request still waits for the order's provider, or that the process died before it answered.

CREATE TABLE idempotency (
  seq INTEGER PRIMARY KEY,
  reseller_account INTEGER NOT NULL REFERENCES users (account),
  key TEXT NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
  request_hash TEXT NOT NULL CHECK (length(request_hash) = 64),
  order_id INTEGER REFERENCES orders (order_id),
  transfer_seq INTEGER REFERENCES transfers (seq),
  answer_status INTEGER CHECK (answer_status BETWEEN 200 AND 599),
  answer_body TEXT,
  created_at INTEGER NOT NULL,
  UNIQUE (reseller_account, key),
  CHECK ((order_id IS NULL) <> (transfer_seq IS NULL)),
  CHECK ((answer_status IS NULL) = (answer_body IS NULL)),
  CHECK (transfer_seq IS NULL OR answer_body IS NOT NULL)
) STRICT;

CREATE INDEX idempotency_by_age ON idempotency (created_at);

CREATE TRIGGER idempotency_keeps_its_effect
BEFORE UPDATE OF seq, reseller_account, key, request_hash, order_id, transfer_seq, created_at ON idempotency
BEGIN SELECT RAISE(ABORT, 'a used key keeps what it did'); END;

CREATE TRIGGER idempotency_keeps_its_answer BEFORE UPDATE ON idempotency
WHEN OLD.answer_body IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a given answer is never changed'); END;
