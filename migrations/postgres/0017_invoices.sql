-- Invoices: documents about credits, which are never changed. A further document corrects one.

-- One row. The numbers are given in the transaction that inserts the invoice, so that none is left out.
CREATE TABLE invoice_settings (
  id bigint PRIMARY KEY CHECK (id = 1),
  mode text COLLATE "C" NOT NULL CHECK (mode IN ('off', 'credit', 'month')),
  -- The series: no prefix ends in a digit.
  prefix text COLLATE "C" NOT NULL CHECK (length(prefix) <= 40),
  next_number bigint NOT NULL CHECK (next_number >= 1),
  next_id bigint NOT NULL CHECK (next_id >= 1),
  seller_name text COLLATE "C" NOT NULL,
  seller_address text COLLATE "C" NOT NULL,
  seller_tax_id text COLLATE "C" NOT NULL,
  tax_ppm bigint NOT NULL CHECK (tax_ppm BETWEEN 0 AND 1000000),
  tax_text text COLLATE "C" NOT NULL,
  CHECK (mode = 'off' OR (seller_name <> '' AND seller_address <> ''))
);

INSERT INTO invoice_settings VALUES (1, 'off', '', 1, 1, '', '', '', 0, '');

-- To whom invoices of a reseller are made out, if not to its name. Deleted when the reseller is erased.
CREATE TABLE billing_details (
  account bigint PRIMARY KEY REFERENCES users (account),
  name text COLLATE "C" NOT NULL CHECK (length(name) >= 1),
  address text COLLATE "C" NOT NULL,
  tax_id text COLLATE "C" NOT NULL,
  -- Null: the operator's.
  tax_ppm bigint CHECK (tax_ppm BETWEEN 0 AND 1000000),
  tax_text text COLLATE "C"
);

CREATE TABLE invoices (
  invoice_id bigint PRIMARY KEY CHECK (invoice_id > 0),
  prefix text COLLATE "C" NOT NULL CHECK (length(prefix) <= 40),
  number bigint NOT NULL CHECK (number >= 1),
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('invoice', 'correction')),
  -- Null: a restore took the reseller back.
  account bigint REFERENCES users (account),
  -- The invoice that a correction corrects, or that an invoice replaces.
  corrects bigint REFERENCES invoices (invoice_id),
  issued_at bigint NOT NULL,
  -- The month that it is for (months since 1970 in UTC). Null: one credit.
  month bigint,
  -- Includes the tax. Negative for a correction.
  total_micros bigint NOT NULL CHECK (total_micros <> 0 AND (total_micros < 0) = (kind = 'correction')),
  tax_micros bigint NOT NULL CHECK (abs(tax_micros) <= abs(total_micros)),
  tax_ppm bigint NOT NULL CHECK (tax_ppm BETWEEN 0 AND 1000000),
  tax_text text COLLATE "C" NOT NULL,
  seller_name text COLLATE "C" NOT NULL CHECK (length(seller_name) >= 1),
  seller_address text COLLATE "C" NOT NULL CHECK (length(seller_address) >= 1),
  seller_tax_id text COLLATE "C" NOT NULL,
  buyer_name text COLLATE "C" NOT NULL CHECK (length(buyer_name) >= 1),
  buyer_address text COLLATE "C" NOT NULL,
  buyer_tax_id text COLLATE "C" NOT NULL,
  -- A JSON list of {text, micros}.
  lines text COLLATE "C" NOT NULL CHECK (json_typeof(lines::json) = 'array'),
  reason text COLLATE "C",
  operator text COLLATE "C",
  -- Issued after the backup that was restored: its credits were taken back.
  carried_over smallint NOT NULL DEFAULT 0 CHECK (carried_over IN (0, 1)),
  UNIQUE (prefix, number),
  CHECK (kind = 'invoice' OR corrects IS NOT NULL),
  CHECK (corrects < invoice_id)
);

CREATE INDEX invoices_by_account ON invoices (account, invoice_id);
CREATE INDEX invoices_by_corrected ON invoices (corrects) WHERE corrects IS NOT NULL;

CREATE TRIGGER invoices_are_kept BEFORE UPDATE ON invoices FOR EACH ROW
EXECUTE FUNCTION refuse('an invoice is never changed');

CREATE TRIGGER invoices_stay BEFORE DELETE ON invoices FOR EACH ROW
EXECUTE FUNCTION refuse('an invoice is never deleted');

-- The credits that invoices are for. An item is written with its transfer, and gets its invoice once.
CREATE TABLE invoice_items (
  seq bigint PRIMARY KEY REFERENCES transfers (seq),
  account bigint NOT NULL REFERENCES users (account),
  month bigint NOT NULL,
  created_at bigint NOT NULL,
  amount_micros bigint NOT NULL CHECK (amount_micros > 0),
  invoice_id bigint REFERENCES invoices (invoice_id) DEFERRABLE INITIALLY DEFERRED
);

CREATE INDEX invoice_items_open ON invoice_items (month, account, seq) WHERE invoice_id IS NULL;
CREATE INDEX invoice_items_by_invoice ON invoice_items (invoice_id) WHERE invoice_id IS NOT NULL;

CREATE TRIGGER invoice_items_are_kept BEFORE UPDATE ON invoice_items FOR EACH ROW
WHEN (OLD.invoice_id IS NOT NULL OR NEW.seq <> OLD.seq OR NEW.account <> OLD.account OR NEW.month <> OLD.month
  OR NEW.created_at <> OLD.created_at OR NEW.amount_micros <> OLD.amount_micros)
EXECUTE FUNCTION refuse('a credit is invoiced once');

CREATE TRIGGER invoice_items_stay BEFORE DELETE ON invoice_items FOR EACH ROW
EXECUTE FUNCTION refuse('a credit is invoiced once');
