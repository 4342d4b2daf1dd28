"""Operations in, a verified program out: the intermediate representation and its rules."""
