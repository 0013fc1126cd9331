-- Hosts of DOCKER_HOSTS that get no new work. A row outlives the host's place in the configuration: one that comes back is still drained.
CREATE TABLE drained_hosts (
  name TEXT NOT NULL PRIMARY KEY,
  drained_at TEXT NOT NULL
) STRICT;
