/**
 * The torture: workflows under load while workers, servers and PostgreSQL are killed, paused and
 * cut off, and then a verdict.
 *
 * <p>A {@link dev.kagzi.torture.Fleet} of real processes runs {@link dev.kagzi.torture.Scenario
 * scenarios}. What steps do goes to {@link dev.kagzi.torture.Ledger ledgers}: files that know
 * nothing of Kagzi and lose nothing when their process is killed. The {@link
 * dev.kagzi.torture.Checker} holds them against the tables afterwards; it sees plain records only,
 * so that tests can show it every kind of violation.
 *
 * <p>May use what applications use: the SDK, the server's and the embedded PostgreSQL's public
 * classes, and JDBC to read the tables. It looks at nothing inside of the engine.
 */
@NullMarked
package dev.kagzi.torture;

import org.jspecify.annotations.NullMarked;
