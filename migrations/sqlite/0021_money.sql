-- What a reseller pays less than the catalogue says, in millionths of the price. docs/decisions/0063.
ALTER TABLE users ADD COLUMN discount_ppm INTEGER NOT NULL DEFAULT 0 CHECK (discount_ppm BETWEEN 0 AND 1000000);

CREATE TRIGGER users_discounted AFTER UPDATE OF discount_ppm ON users WHEN NEW.discount_ppm <> OLD.discount_ppm
BEGIN UPDATE catalogue_version SET version = version + 1; END;

-- What a few transfers have besides: the operator's reference, unique to a user, and the note that the user is told. The
-- note of a transfer itself is the operator's own. docs/decisions/0064.
CREATE TABLE transfer_details (
  seq INTEGER PRIMARY KEY REFERENCES transfers (seq),
  account INTEGER NOT NULL REFERENCES users (account),
  reference TEXT CHECK (length(reference) BETWEEN 1 AND 64),
  public_note TEXT CHECK (length(public_note) >= 1),
  CHECK (reference IS NOT NULL OR public_note IS NOT NULL)
) STRICT;

CREATE UNIQUE INDEX transfer_details_by_reference ON transfer_details (account, reference) WHERE reference IS NOT NULL;

-- But for the texts of an erased user.
CREATE TRIGGER transfer_details_append_only_update BEFORE UPDATE ON transfer_details
WHEN NEW.reference IS NOT NULL OR NEW.public_note IS NOT 'erased' OR NEW.seq <> OLD.seq OR NEW.account <> OLD.account
  OR (SELECT erased_at FROM users WHERE account = OLD.account) IS NULL
BEGIN SELECT RAISE(ABORT, 'transfers are append-only'); END;

CREATE TRIGGER transfer_details_append_only_delete BEFORE DELETE ON transfer_details
BEGIN SELECT RAISE(ABORT, 'transfers are append-only'); END;

-- So far a user was told every note of a transfer that an operator caused: what was told stays told, but for the one text
-- that the service itself wrote there.
INSERT INTO transfer_details (seq, account, public_note)
SELECT seq, max(debit_account, credit_account), note FROM transfers
WHERE operator IS NOT NULL AND length(note) >= 1 AND NOT (kind = 'refund' AND note = 'settled: it was not placed')
ORDER BY seq;

-- What remained by the report, of a PARTIAL; null where an earlier version stored it. What the operator decided of it.
ALTER TABLE late_reports ADD COLUMN remains INTEGER CHECK (remains >= 0);
ALTER TABLE late_reports ADD COLUMN decision TEXT CHECK (decision IN ('accepted', 'dismissed'));
ALTER TABLE late_reports ADD COLUMN decided_at INTEGER CHECK ((decided_at IS NULL) = (decision IS NULL));

CREATE INDEX late_reports_open ON late_reports (order_id) WHERE decision IS NULL;

-- Open orders of which their provider says that it does not know the number, until it reports of them.
CREATE TABLE unrecognized_numbers (
  order_id INTEGER PRIMARY KEY REFERENCES orders (order_id),
  provider_order TEXT NOT NULL,
  -- What the provider said, with its key masked. For the operator only.
  cause TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- A number that the operator gave is corrected while the provider has not reported anything.
DROP TRIGGER orders_keep_provider_order;
CREATE TRIGGER orders_keep_provider_order BEFORE UPDATE OF provider_order ON orders
WHEN OLD.provider_order IS NOT NULL AND NEW.provider_order IS NOT OLD.provider_order
  AND (OLD.reported IS NOT NULL OR OLD.status <> 'PROCESSING')
BEGIN SELECT RAISE(ABORT, 'an order keeps the number its provider gave it'); END;
