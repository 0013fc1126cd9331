-- Outside text is what no person of this server wrote. Where work has read some, or was made from it, one sentence says
-- how; NULL: it has not, or a person has confirmed it. Of sessions it is kept at the root of their tree.
ALTER TABLE sessions ADD COLUMN outside TEXT;
ALTER TABLE runs ADD COLUMN outside TEXT;
ALTER TABLE tasks ADD COLUMN outside TEXT;
ALTER TABLE projects ADD COLUMN outside TEXT;
-- Whose claim it is: the run, else the root of the tree of sessions; NULL: a person's.
ALTER TABLE tasks ADD COLUMN claimed_by TEXT;
