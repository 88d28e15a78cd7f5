-- What the service needs once its tables are there, and nothing more: it can neither change the schema nor delete an
-- order or a transfer. As the owner of the database, after each upgrade too:
--   psql -d reseller -v ON_ERROR_STOP=1 -f deploy/postgres-role.sql
-- See docs/postgres.md.
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO reseller;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO reseller;
-- SELECT for `verify`, which compares them with the numbers in the tables.
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO reseller;
-- Raises the numbers of orders and services above those of an import from another panel.
GRANT EXECUTE ON FUNCTION reserve_numbers TO reseller;

-- Append-only.
GRANT INSERT ON transfers, transfer_details, order_events, resent_orders, service_changes, audit, order_costs,
  payment_events, payment_transfers, invoices, imported_users, imported_services TO reseller;
-- But for what the erasure of a user's personal data takes out; triggers let it take nothing else.
GRANT UPDATE (note) ON transfers, order_events TO reseller;
GRANT UPDATE (reference, public_note) ON transfer_details TO reseller;
GRANT UPDATE (subject, before, after) ON audit TO reseller;
GRANT INSERT, UPDATE (link) ON past_orders TO reseller;
-- A credit gets its invoice later.
GRANT INSERT, UPDATE (invoice_id) ON invoice_items TO reseller;
-- UPDATE also for the locks of rows.
GRANT INSERT, UPDATE ON accounts, users, keys, providers, services, orders, attempts,
  late_reports, order_requests, webhooks, provider_rates, daily_totals, money_totals, key_recharges, limit_use, panel_import TO reseller;
GRANT UPDATE ON catalogue_version, uptime, totals_position, invoice_settings TO reseller;
-- What is deleted: grants that were withdrawn, routes that were removed, positions of categories, contacts that were
-- removed, old counts of requests, limits that are the defaults again, answers that are older than their time, leases and markers that have ended,
-- webhooks that are done with, numbers that a provider did not know, balances that are older than their time.
GRANT INSERT, UPDATE, DELETE ON grants, service_routes, category_order, user_contacts, key_requests, reseller_limits, idempotency, servers, batches, webhook_deliveries TO reseller;
GRANT DELETE ON webhooks TO reseller;
-- To whom invoices are made out, which an erasure deletes.
GRANT INSERT, UPDATE, DELETE ON billing_details TO reseller;
-- Spend of hours that are over.
GRANT INSERT, UPDATE, DELETE ON hourly_spend TO reseller;
-- Those that nothing refers to.
GRANT DELETE ON providers, services TO reseller;
GRANT INSERT, DELETE ON webhook_events, webhook_attempts, unrecognized_numbers, provider_balances TO reseller;
-- Alerts that ended long ago.
GRANT INSERT, UPDATE, DELETE ON alerts TO reseller;
-- The panel: who may use it, their sessions, tries to sign in, and confirmations.
GRANT INSERT, UPDATE ON administrators TO reseller;
GRANT INSERT, UPDATE, DELETE ON recovery_codes, panel_sessions, known_networks, sign_in_attempts, confirmations, saved_views TO reseller;
-- The portal: members of resellers, their sessions and tries to sign in, and who asks to become a reseller.
GRANT INSERT, UPDATE ON members, portal_settings TO reseller;
GRANT INSERT, UPDATE, DELETE ON member_recovery_codes, member_sessions, member_networks, member_attempts TO reseller;
-- Administrators who see the portal as a reseller.
GRANT INSERT, UPDATE, DELETE ON inspections TO reseller;
GRANT INSERT, UPDATE, DELETE ON registrations TO reseller;
GRANT INSERT, DELETE ON portal_notices TO reseller;
-- E-mails, which are deleted when they are old.
GRANT INSERT, UPDATE, DELETE ON mails TO reseller;
GRANT UPDATE ON mail_settings TO reseller;
-- Payments, and files of customers, which an erasure deletes.
GRANT INSERT, UPDATE ON payment_methods, payments, payment_surpluses TO reseller;
GRANT INSERT, UPDATE, DELETE ON payment_attachments TO reseller;
GRANT INSERT, DELETE ON payment_method_resellers TO reseller;
