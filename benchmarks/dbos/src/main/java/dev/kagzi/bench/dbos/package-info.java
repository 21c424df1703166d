/** DBOS Transact Java with the same workload that the benchmark gives to Kagzi. */
@NullMarked
package dev.kagzi.bench.dbos;

import org.jspecify.annotations.NullMarked;
