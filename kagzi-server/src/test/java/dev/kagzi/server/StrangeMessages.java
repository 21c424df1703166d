package dev.kagzi.server;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.OneofDescriptor;
import com.google.protobuf.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;

/**
 * Builds messages of any type from its descriptor: each field is unset, plausible or invalid. New
 * fields and messages need no change here.
 */
final class StrangeMessages {
  private static final int DEPTH_MAX = 5;
  private static final int MANY = 10_000;

  private static final ByteString OVER_THE_LIMIT = ByteString.copyFrom(new byte[(2 << 20) + 1]);
  private static final ByteString AT_THE_LIMIT = ByteString.copyFrom(new byte[2 << 20]);

  private static final List<String> TEXTS =
      List.of(
          "",
          " ",
          "a\u0000b",
          "\u0000",
          "\u0001",
          "\n",
          "\u007f",
          "\ud800",
          "a\udc00b",
          "\udc00\ud800",
          "\uFFFF",
          "\u202e",
          "x".repeat(200),
          "x".repeat(201),
          "x".repeat(501),
          "\ud83d\ude00".repeat(250),
          "ä".repeat(4_097),
          "no-id",
          "00000000-0000-0000-0000-000000000000",
          "00000000-0000-0000-0000-00000000000g",
          "0000000000000000000000000000000000000",
          UUID.randomUUID() + "/s@1.1",
          UUID.randomUUID() + "/s@99999999999.1",
          UUID.randomUUID() + "/@0.0",
          "/@.",
          "next:AAAA",
          "prev:",
          "next:" + "/".repeat(300),
          "../../etc/passwd",
          "'; DROP TABLE kagzi.workflow_runs; --",
          "%s%n%x",
          "${jndi:ldap://127.0.0.1/a}");
  private static final String HUGE = "x".repeat(1 << 20);

  private static final long[] LONGS = {
    0,
    -1,
    1,
    1_000,
    Long.MAX_VALUE,
    Long.MAX_VALUE - 1,
    Long.MIN_VALUE,
    Integer.MAX_VALUE + 1L,
    253_402_300_799L,
    253_402_300_800L,
    -62_135_596_801L,
    3_155_760_000_000L
  };
  private static final int[] INTS = {
    0, -1, 1, 2, 101, 1_000_000_000, Integer.MAX_VALUE, Integer.MIN_VALUE
  };
  private static final double[] DOUBLES = {
    0,
    -0.0,
    -1,
    0.5,
    1,
    2,
    1_000.5,
    Double.NaN,
    Double.MAX_VALUE,
    Double.MIN_VALUE,
    Double.POSITIVE_INFINITY,
    Double.NEGATIVE_INFINITY
  };

  private final Random random;
  private final LiveThings live;

  StrangeMessages(Random random, LiveThings live) {
    this.random = random;
    this.live = live;
  }

  Message make(Message type) {
    return fill(type.toBuilder(), 0).build();
  }

  private Message.Builder fill(Message.Builder message, int depth) {
    Descriptor type = message.getDescriptorForType();
    for (OneofDescriptor choice : type.getRealOneofs()) {
      if (chance(90)) {
        set(message, choice.getField(random.nextInt(choice.getFieldCount())), depth);
      }
    }
    for (FieldDescriptor field : type.getFields()) {
      if (field.getRealContainingOneof() == null && chance(80)) {
        set(message, field, depth);
      }
    }
    return message;
  }

  private void set(Message.Builder message, FieldDescriptor field, int depth) {
    if (depth >= DEPTH_MAX) {
      return;
    }
    if (!field.isRepeated()) {
      message.setField(field, value(message, field, depth));
      return;
    }
    int count = count(field);
    List<Object> values = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      values.add(field.isMapField() ? entry(message, field, i) : value(message, field, depth));
    }
    message.setField(field, values);
  }

  private int count(FieldDescriptor field) {
    boolean cheap = field.isMapField() || field.getJavaType() != FieldDescriptor.JavaType.MESSAGE;
    return cheap && random.nextInt(500) == 0 ? MANY : random.nextInt(3);
  }

  private Message entry(Message.Builder message, FieldDescriptor field, int index) {
    Message.Builder entry = message.newBuilderForField(field);
    Descriptor type = entry.getDescriptorForType();
    FieldDescriptor key = type.findFieldByNumber(1);
    FieldDescriptor value = type.findFieldByNumber(2);
    entry.setField(key, index < 2 ? scalar(key) : "k" + index);
    entry.setField(value, index < 2 ? scalar(value) : value.getDefaultValue());
    return entry.build();
  }

  private Object value(Message.Builder message, FieldDescriptor field, int depth) {
    return field.getJavaType() == FieldDescriptor.JavaType.MESSAGE
        ? fill(message.newBuilderForField(field), depth + 1).build()
        : scalar(field);
  }

  private Object scalar(FieldDescriptor field) {
    return switch (field.getJavaType()) {
      case STRING -> chance(75) ? live.text(random, field.getName()) : strangeText();
      case LONG -> chance(50) ? (Object) random.nextLong(100) : LONGS[random.nextInt(LONGS.length)];
      case INT -> chance(60) ? 1 + random.nextInt(2) : INTS[random.nextInt(INTS.length)];
      case DOUBLE -> DOUBLES[random.nextInt(DOUBLES.length)];
      case FLOAT -> (float) DOUBLES[random.nextInt(DOUBLES.length)];
      case BOOLEAN -> random.nextBoolean();
      case BYTE_STRING -> bytes();
      case ENUM -> constant(field);
      case MESSAGE -> throw new AssertionError(field);
    };
  }

  private String strangeText() {
    return random.nextInt(100) == 0 ? HUGE : TEXTS.get(random.nextInt(TEXTS.size()));
  }

  private ByteString bytes() {
    return switch (random.nextInt(400)) {
      case 0 -> OVER_THE_LIMIT;
      case 1 -> AT_THE_LIMIT;
      default ->
          chance(80)
              ? ByteString.copyFromUtf8("{\"a\": 1}")
              : ByteString.copyFrom(new byte[] {-1, 0, 34});
    };
  }

  private EnumValueDescriptor constant(FieldDescriptor field) {
    List<EnumValueDescriptor> values = field.getEnumType().getValues();
    return chance(85)
        ? values.get(random.nextInt(values.size()))
        : field
            .getEnumType()
            .findValueByNumberCreatingIfUnknown(chance(50) ? 99 : Integer.MIN_VALUE);
  }

  private boolean chance(int percent) {
    return random.nextInt(100) < percent;
  }

  /** Ids and tokens that exist on the server. */
  interface LiveThings {
    String text(Random random, String field);
  }
}
