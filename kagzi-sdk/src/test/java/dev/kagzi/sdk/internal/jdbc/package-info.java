/** Tests of the rows in an application's database. */
@NullMarked
package dev.kagzi.sdk.internal.jdbc;

import org.jspecify.annotations.NullMarked;
