-- Command line that says by its exit code whether a project's code works.
ALTER TABLE projects ADD COLUMN check_command TEXT;
-- What an execution without a model runs: {command, working_directory?, env?}.
ALTER TABLE executions ADD COLUMN command TEXT;
