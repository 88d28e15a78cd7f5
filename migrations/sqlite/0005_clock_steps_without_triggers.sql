-- The program itself records steps of the clock, in the transaction that inserts the row. An INSERT with a trigger
-- copies every page that it changes, which took a third of what SQLite did for an order. The steps of existing rows
-- were recorded by these triggers.
DROP TRIGGER orders_note_clock_step;
DROP TRIGGER transfers_note_clock_step;
