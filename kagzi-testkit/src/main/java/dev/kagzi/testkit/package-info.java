/**
 * Tests of workflows, on a real server and a real PostgreSQL: {@link dev.kagzi.testkit.KagziEnv} is
 * a server of one test's own, whose clock the test moves; {@link dev.kagzi.testkit.KagziExtension}
 * hands one to each JUnit test that asks for it.
 *
 * <p>One PostgreSQL serves all tests of a JVM. Each environment has a database of its own in it, a
 * copy of one that is migrated once: the clock is a function of the database, and so no test can
 * see the time, the runs or the workers of another.
 */
@NullMarked
package dev.kagzi.testkit;

import org.jspecify.annotations.NullMarked;
