-- Steps that wait for a person, or were answered by one: a few of many.
CREATE INDEX steps_of_people ON steps (status, id) WHERE agent_id IS NULL;
