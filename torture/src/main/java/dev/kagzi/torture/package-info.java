/**
 * The torture test: runs workflows under load while workers, servers and PostgreSQL are killed,
 * paused and cut off, and then checks the results.
 *
 * <p>A {@link dev.kagzi.torture.Fleet} of real processes runs {@link dev.kagzi.torture.Scenario
 * scenarios}. Steps write what they do to {@link dev.kagzi.torture.Ledger ledgers}: files that are
 * independent of Kagzi and lose nothing when their process is killed. Afterwards the {@link
 * dev.kagzi.torture.Checker} compares them with the tables. It reads plain records only, so that
 * tests can present every kind of violation.
 *
 * <p>May use what applications use: the SDK, the public classes of the server and the embedded
 * PostgreSQL, and JDBC to read the tables. It uses nothing inside the engine.
 */
@NullMarked
package dev.kagzi.torture;

import org.jspecify.annotations.NullMarked;
