/**
 * Test support for workflows, on a real server and a real PostgreSQL: {@link
 * dev.kagzi.testkit.KagziEnv} is the server of one test, whose clock the test moves. {@link
 * dev.kagzi.testkit.KagziExtension} passes one to each JUnit test that declares it.
 *
 * <p>One PostgreSQL serves all tests of a JVM. Each environment has its own database in it, copied
 * from one that is migrated once. The clock is a function of the database, so tests do not share
 * time, runs or workers.
 */
@NullMarked
package dev.kagzi.testkit;

import org.jspecify.annotations.NullMarked;
