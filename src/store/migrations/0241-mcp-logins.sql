-- Sealed JSON: the client that was registered by hand with its authorization server; NULL: none was.
ALTER TABLE mcp_servers ADD COLUMN sealed_oauth TEXT;
-- off or defaults: how a form that it asks for in the middle of a call is answered.
ALTER TABLE mcp_servers ADD COLUMN elicitation TEXT NOT NULL DEFAULT 'off';
