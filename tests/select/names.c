/* Words of users: names, near misses, numbers. */
#include "support/check.h"
#include "coll/select/names.h"

static const char *const names[] = {"ring", "recursive_doubling", "linear", "tree"};
enum { NAMES = sizeof names / sizeof names[0] };

static bool nearest_is(const char *word, const char *name)
{
    const char *near = coll_name_nearest(word, names, NAMES);
    return near == name || (near && name && strcmp(near, name) == 0);
}

TEST(near_names)
{
    CHECK(nearest_is("ring", "ring"));
    CHECK(nearest_is("rign", "ring"));  /* swapped */
    CHECK(nearest_is("rin", "ring"));   /* missing */
    CHECK(nearest_is("rring", "ring")); /* too many */
    CHECK(nearest_is("RING", "ring"));
    CHECK(nearest_is("recursive-dubling", "recursive_doubling"));
    CHECK(nearest_is("recur", "recursive_doubling"));
    CHECK(nearest_is("li", NULL)); /* too short for a beginning */
    CHECK(nearest_is("pairwise", NULL));
    CHECK(nearest_is("", NULL));
    CHECK(nearest_is("a_word_that_is_longer_than_all_names_of_the_library_together", NULL));
}

TEST(names_are_found)
{
    coll_sentence why;
    char list[24];
    CHECK_EQ(coll_name_index("tree", "recursive-doubling", names, NAMES, &why), 1);
    CHECK_EQ(coll_name_index("tree", "tree", names, NAMES, &why), 3);
    CHECK(coll_name_index("shape", "liner", names, NAMES, &why) == COLL_NO_NAME);
    CHECK(strcmp(why.text, "there is no shape \"liner\"; did you mean \"linear\"?") == 0);
    CHECK(coll_name_index("shape", "quux", names, NAMES, &why) == COLL_NO_NAME);
    CHECK(strcmp(why.text, "there is no shape \"quux\"; there are ring, recursive_doubling, "
                           "linear, tree") == 0);
    CHECK(coll_name_index("shape", "quux", names, 1, &why) == COLL_NO_NAME);
    CHECK(strcmp(why.text, "there is no shape \"quux\"; there is ring") == 0);
    CHECK(!coll_name_is("ring", "rin") && !coll_name_is("rin", "ring"));
    for (size_t room = 8; room <= sizeof list; room++) {
        coll_names_list(names, NAMES, list, room);
        CHECK(strlen(list) < room);
        CHECK(strcmp(list, room < 10 ? "…" : "ring, …") == 0);
    }
    coll_names_list(&names[2], 2, list, sizeof list);
    CHECK(strcmp(list, "linear, tree") == 0);
}

/* Is the text this number? */
static bool number_is(const char *text, uint64_t wanted)
{
    uint64_t number = 0;
    return coll_number_read(text, &number) && number == wanted;
}

TEST(numbers)
{
    static const char *const wrong[] = {"",   "k",  "-1",  "+1", "1.5", " 1",
                                        "1 ", "1K", "1kB", "0x", "1kk", "18446744073709551616"};
    static const uint64_t some[] = {0,     1,        1023,     1024,      1025,
                                    65536, 1u << 20, 3u << 20, UINT64_MAX};
    uint64_t number;
    char text[24];
    CHECK(number_is("0", 0) && number_is("7", 7) && number_is("8k", 8192));
    CHECK(number_is("3M", 3u << 20) && number_is("2G", (uint64_t)2 << 30));
    CHECK(number_is("18446744073709551615", UINT64_MAX));
    CHECK(number_is("17179869183G", (uint64_t)17179869183u << 30));
    CHECK(!coll_number_read("17179869184G", &number));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK(!coll_number_read(wrong[i], &number));
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++)
        CHECK(number_is(coll_number_text(some[i], text), some[i]));
    CHECK(strcmp(coll_number_text(3u << 20, text), "3M") == 0);
    CHECK(strcmp(coll_number_text(1536, text), "1536") == 0);
}

int main(void)
{
    RUN(near_names);
    RUN(names_are_found);
    RUN(numbers);
    return check_done();
}
