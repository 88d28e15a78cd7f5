-- Invoices: documents about credits, which are never changed. A further document corrects one.

-- One row. The numbers are given in the transaction that inserts the invoice, so that none is left out.
CREATE TABLE invoice_settings (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  mode TEXT NOT NULL CHECK (mode IN ('off', 'credit', 'month')),
  -- The series: no prefix ends in a digit.
  prefix TEXT NOT NULL CHECK (length(prefix) <= 40),
  next_number INTEGER NOT NULL CHECK (next_number >= 1),
  next_id INTEGER NOT NULL CHECK (next_id >= 1),
  seller_name TEXT NOT NULL,
  seller_address TEXT NOT NULL,
  seller_tax_id TEXT NOT NULL,
  tax_ppm INTEGER NOT NULL CHECK (tax_ppm BETWEEN 0 AND 1000000),
  tax_text TEXT NOT NULL,
  CHECK (mode = 'off' OR (seller_name <> '' AND seller_address <> ''))
) STRICT;

INSERT INTO invoice_settings VALUES (1, 'off', '', 1, 1, '', '', '', 0, '');

-- To whom invoices of a reseller are made out, if not to its name. Deleted when the reseller is erased.
CREATE TABLE billing_details (
  account INTEGER PRIMARY KEY REFERENCES users (account),
  name TEXT NOT NULL CHECK (length(name) >= 1),
  address TEXT NOT NULL,
  tax_id TEXT NOT NULL,
  -- Null: the operator's.
  tax_ppm INTEGER CHECK (tax_ppm BETWEEN 0 AND 1000000),
  tax_text TEXT
) STRICT;

CREATE TABLE invoices (
  invoice_id INTEGER PRIMARY KEY CHECK (invoice_id > 0),
  prefix TEXT NOT NULL CHECK (length(prefix) <= 40),
  number INTEGER NOT NULL CHECK (number >= 1),
  kind TEXT NOT NULL CHECK (kind IN ('invoice', 'correction')),
  -- Null: a restore took the reseller back.
  account INTEGER REFERENCES users (account),
  -- The invoice that a correction corrects, or that an invoice replaces.
  corrects INTEGER REFERENCES invoices (invoice_id),
  issued_at INTEGER NOT NULL,
  -- The month that it is for (months since 1970 in UTC). Null: one credit.
  month INTEGER,
  -- Includes the tax. Negative for a correction.
  total_micros INTEGER NOT NULL CHECK (total_micros <> 0 AND (total_micros < 0) = (kind = 'correction')),
  tax_micros INTEGER NOT NULL CHECK (abs(tax_micros) <= abs(total_micros)),
  tax_ppm INTEGER NOT NULL CHECK (tax_ppm BETWEEN 0 AND 1000000),
  tax_text TEXT NOT NULL,
  seller_name TEXT NOT NULL CHECK (length(seller_name) >= 1),
  seller_address TEXT NOT NULL CHECK (length(seller_address) >= 1),
  seller_tax_id TEXT NOT NULL,
  buyer_name TEXT NOT NULL CHECK (length(buyer_name) >= 1),
  buyer_address TEXT NOT NULL,
  buyer_tax_id TEXT NOT NULL,
  -- A JSON list of {text, micros}.
  lines TEXT NOT NULL CHECK (json_type(lines) = 'array'),
  reason TEXT,
  operator TEXT,
  -- Issued after the backup that was restored: its credits were taken back.
  carried_over INTEGER NOT NULL DEFAULT 0 CHECK (carried_over IN (0, 1)),
  UNIQUE (prefix, number),
  CHECK (kind = 'invoice' OR corrects IS NOT NULL),
  CHECK (corrects < invoice_id)
) STRICT;

CREATE INDEX invoices_by_account ON invoices (account, invoice_id);
CREATE INDEX invoices_by_corrected ON invoices (corrects) WHERE corrects IS NOT NULL;

CREATE TRIGGER invoices_are_kept BEFORE UPDATE ON invoices
BEGIN SELECT RAISE(ABORT, 'an invoice is never changed'); END;

CREATE TRIGGER invoices_stay BEFORE DELETE ON invoices
BEGIN SELECT RAISE(ABORT, 'an invoice is never deleted'); END;

-- The credits that invoices are for. An item is written with its transfer, and gets its invoice once.
CREATE TABLE invoice_items (
  seq INTEGER PRIMARY KEY REFERENCES transfers (seq),
  account INTEGER NOT NULL REFERENCES users (account),
  month INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  amount_micros INTEGER NOT NULL CHECK (amount_micros > 0),
  invoice_id INTEGER REFERENCES invoices (invoice_id) DEFERRABLE INITIALLY DEFERRED
) STRICT;

CREATE INDEX invoice_items_open ON invoice_items (month, account, seq) WHERE invoice_id IS NULL;
CREATE INDEX invoice_items_by_invoice ON invoice_items (invoice_id) WHERE invoice_id IS NOT NULL;

CREATE TRIGGER invoice_items_are_kept BEFORE UPDATE ON invoice_items
WHEN OLD.invoice_id IS NOT NULL OR NEW.seq <> OLD.seq OR NEW.account <> OLD.account OR NEW.month <> OLD.month
  OR NEW.created_at <> OLD.created_at OR NEW.amount_micros <> OLD.amount_micros
BEGIN SELECT RAISE(ABORT, 'a credit is invoiced once'); END;

CREATE TRIGGER invoice_items_stay BEFORE DELETE ON invoice_items
BEGIN SELECT RAISE(ABORT, 'a credit is invoiced once'); END;
