/**
 * PostgreSQL as the engine sees it: sessions with the settings that hot statements need, a thin
 * fluent layer over JDBC with array parameters, migrations, and a count of what was sent.
 *
 * <p>Knows nothing of runs. Everything above states its SQL beside its only caller and runs it
 * through {@link dev.kagzi.engine.db.Session}.
 */
@NullMarked
package dev.kagzi.engine.db;

import org.jspecify.annotations.NullMarked;
