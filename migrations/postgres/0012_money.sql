-- What a reseller pays less than the catalogue says, in millionths of the price. docs/decisions/0063.
ALTER TABLE users ADD COLUMN discount_ppm bigint NOT NULL DEFAULT 0 CHECK (discount_ppm BETWEEN 0 AND 1000000);

CREATE TRIGGER users_discounted AFTER UPDATE OF discount_ppm ON users FOR EACH ROW
WHEN (NEW.discount_ppm <> OLD.discount_ppm) EXECUTE FUNCTION catalogue_changed();

-- What a few transfers have besides: the operator's reference, unique to a user, and the note that the user is told. The
-- note of a transfer itself is the operator's own. docs/decisions/0064.
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
-- But for the texts of an erased user.
CREATE FUNCTION transfer_details_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.reference IS NOT NULL OR NEW.public_note IS DISTINCT FROM 'erased' OR NEW.seq <> OLD.seq
    OR NEW.account <> OLD.account OR NOT is_erased(OLD.account) THEN
    RAISE EXCEPTION 'transfers are append-only' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER transfer_details_append_only_update BEFORE UPDATE ON transfer_details FOR EACH ROW
EXECUTE FUNCTION transfer_details_append_only();

-- So far a user was told every note of a transfer that an operator caused: what was told stays told, but for the one text
-- that the service itself wrote there.
INSERT INTO transfer_details (seq, account, public_note)
SELECT seq, greatest(debit_account, credit_account), note FROM transfers
WHERE operator IS NOT NULL AND length(note) >= 1 AND NOT (kind = 'refund' AND note = 'settled: it was not placed')
ORDER BY seq;

-- What remained by the report, of a PARTIAL; null where an earlier version stored it. What the operator decided of it.
ALTER TABLE late_reports ADD COLUMN remains bigint CHECK (remains >= 0);
ALTER TABLE late_reports ADD COLUMN decision text COLLATE "C" CHECK (decision IN ('accepted', 'dismissed'));
ALTER TABLE late_reports ADD COLUMN decided_at bigint CHECK ((decided_at IS NULL) = (decision IS NULL));

CREATE INDEX late_reports_open ON late_reports (order_id) WHERE decision IS NULL;

-- Open orders of which their provider says that it does not know the number, until it reports of them.
CREATE TABLE unrecognized_numbers (
  order_id bigint PRIMARY KEY REFERENCES orders (order_id),
  provider_order text COLLATE "C" NOT NULL,
  -- What the provider said, with its key masked. For the operator only.
  cause text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL
);

-- A number that the operator gave is corrected while the provider has not reported anything.
DROP TRIGGER orders_keep_provider_order ON orders;
CREATE TRIGGER orders_keep_provider_order BEFORE UPDATE OF provider_order ON orders FOR EACH ROW
WHEN (OLD.provider_order IS NOT NULL AND NEW.provider_order IS DISTINCT FROM OLD.provider_order
  AND (OLD.reported IS NOT NULL OR OLD.status <> 'PROCESSING'))
EXECUTE FUNCTION refuse('an order keeps the number its provider gave it');
