/** DBOS Transact Java on the work that the benchmark gives to Kagzi. */
@NullMarked
package dev.kagzi.bench.dbos;

import org.jspecify.annotations.NullMarked;
