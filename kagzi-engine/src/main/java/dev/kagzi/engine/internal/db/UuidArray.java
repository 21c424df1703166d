package dev.kagzi.engine.internal.db;

import java.nio.ByteBuffer;
import java.sql.Array;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.Oid;
import org.postgresql.jdbc.PgArray;
import org.postgresql.jdbc.PreferQueryMode;

/**
 * Encodes {@code uuid[]} parameters in PostgreSQL's binary format. The driver itself sends them as
 * text, which costs the server to write and PostgreSQL to parse.
 */
final class UuidArray {
  // Dimensions, whether there are nulls, type of the elements, their number, index of the first.
  private static final int HEADER_BYTES = 5 * Integer.BYTES;
  private static final int UUID_BYTES = 2 * Long.BYTES;
  private static final int NULL_LENGTH = -1;

  private UuidArray() {}

  static Array of(Connection connection, @Nullable UUID[] values) throws SQLException {
    BaseConnection driver = connection.unwrap(BaseConnection.class);
    if (driver.getPreferQueryMode() == PreferQueryMode.SIMPLE) {
      // This protocol, an option in the URL of the database, has no binary parameters.
      return driver.createArrayOf("uuid", values);
    }
    return new PgArray(driver, Oid.UUID_ARRAY, encode(values));
  }

  static byte[] encode(@Nullable UUID[] values) {
    ByteBuffer bytes =
        ByteBuffer.allocate(HEADER_BYTES + values.length * (Integer.BYTES + UUID_BYTES));
    // An empty array has no dimension; what follows its type is not sent.
    bytes.putInt(values.length == 0 ? 0 : 1).putInt(0).putInt(Oid.UUID);
    if (values.length > 0) {
      bytes.putInt(values.length).putInt(1);
    }
    boolean hasNull = false;
    for (UUID value : values) {
      if (value == null) {
        hasNull = true;
        bytes.putInt(NULL_LENGTH);
      } else {
        bytes.putInt(UUID_BYTES);
        bytes.putLong(value.getMostSignificantBits()).putLong(value.getLeastSignificantBits());
      }
    }
    bytes.putInt(Integer.BYTES, hasNull ? 1 : 0);
    byte[] encoded = new byte[bytes.position()];
    bytes.flip().get(encoded);
    return encoded;
  }
}
