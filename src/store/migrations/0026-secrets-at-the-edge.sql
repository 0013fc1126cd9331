-- Where a secret is put into requests on their way out, JSON; null: agents get it as a variable.
ALTER TABLE secrets ADD COLUMN edge TEXT;
