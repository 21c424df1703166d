package dev.kagzi.sdk;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;

/**
 * A generic type with its parameters: {@code new TypeRef<List<Parcel>>() {}}. The braces are
 * needed: they create a subclass, which keeps the parameters at run time.
 *
 * @param <T> the generic type
 */
public abstract class TypeRef<T> {
  private final Type type;

  protected TypeRef() {
    if (!(getClass().getGenericSuperclass() instanceof ParameterizedType self)) {
      throw new IllegalArgumentException(
          "TypeRef: no type parameter (expected: new TypeRef<List<String>>() {})");
    }
    this.type = self.getActualTypeArguments()[0];
  }

  /** Returns the type with its parameters. */
  public final Type type() {
    return type;
  }

  @Override
  public final String toString() {
    return type.getTypeName();
  }
}
