#!/bin/sh
# Creates the databases in which the Temporal server keeps its state, and brings their schemas to the version
# of the tool that is called, which is the server's. Changes nothing where all is there already, so that it
# runs before every start, and is what upgrades them.
#
# The tool reads how to connect from SQL_PLUGIN, SQL_HOST, SQL_PORT, SQL_USER and SQL_PASSWORD.
set -eu

set_up() {
  echo "Database $1:"
  temporal-sql-tool --db "$1" create-database
  temporal-sql-tool --db "$1" setup-schema --version 0.0
  temporal-sql-tool --db "$1" update-schema --schema-name "postgresql/v12/$2"
}

set_up temporal temporal
set_up temporal_visibility visibility
echo 'The databases are ready.'
