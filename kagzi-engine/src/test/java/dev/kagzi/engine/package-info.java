/** What all tests of the engine share: a database of their own on a real PostgreSQL. */
@NullMarked
package dev.kagzi.engine;

import org.jspecify.annotations.NullMarked;
