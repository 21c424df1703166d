/**
 * Access to PostgreSQL: sessions with the settings that hot statements need, a thin fluent layer
 * over JDBC with array parameters, migrations and statement counts.
 *
 * <p>Knows only one table, {@code database_generation}. Other packages keep each SQL statement
 * beside its caller and execute it through {@link dev.kagzi.engine.internal.db.Session}.
 */
@NullMarked
package dev.kagzi.engine.internal.db;

import org.jspecify.annotations.NullMarked;
