#!/usr/bin/env python3
"""Makes the PDFs of the corpus: `python3 make_pdfs.py`, in this folder. One is plain, one is packed as newer writers do it."""

import pathlib
import zlib

DOCS = pathlib.Path(__file__).parent / "docs"

WEDDINGS = [
    [
        (22, "Hiring the mill for weddings"),
        (11, "The meal floor and the garden can be hired for weddings and other celebrations from May to September."),
        (15, "Rooms and numbers"),
        (11, "The meal floor seats seventy-two people at round tables. Standing, a hundred and ten are allowed, and not one more:"),
        (11, "the fire officer counts. In the garden there is room for a tent of nine by eighteen metres, which has to stand away from"),
        (11, "the roots of the walnut tree."),
        (15, "Prices"),
        (11, "A Saturday costs 1,450, any other day 900. A deposit of 400 is due with the booking and is paid back within two weeks,"),
        (11, "less what was broken. Members pay a third less. Bookings that are cancelled less than sixty days before the day are"),
        (11, "charged by half."),
    ],
    [
        (15, "Music"),
        (11, "Music has to end at 23:00 outside and at midnight inside. The limiter cuts the power at 92 decibels; it was set by the"),
        (11, "county and cannot be changed by anybody here. Fireworks and sky lanterns are forbidden because of the thatched roofs in"),
        (11, "Mill Lane."),
        (15, "Food and drink"),
        (11, "You may bring your own caterer. The kitchen has one oven and no freezer. The bar is run by the cooperative; corkage is"),
        (11, "8 a bottle for wine. The water of the well is not drinking water, whatever guests say about its taste."),
        (15, "Photographs"),
        (11, "The wheel can be set going for photographs for half an hour, if a miller is there. That costs 60, to be paid in cash to"),
        (11, "the miller. Nobody climbs onto the wheel, and no veil goes near the gearing."),
    ],
]

BATS = [
    [
        (20, "Survey of bats and birds"),
        (11, "The loft of the mill is one of four known nurseries of the lesser horseshoe bat in the county. This survey is made each"),
        (11, "year on three evenings in June, by counting the animals that leave through the slot in the east gable."),
        (14, "Counts"),
        (11, "This year 187 animals were counted, after 164 in the year before. The first ones leave about twenty minutes after sun-"),
        (11, "set. Two long-eared bats live in the roof of the barn. Daubenton's bats hunt over the pond, but sleep in the bridge."),
        (14, "What follows for the building"),
        (11, "From 1 May to 31 August nobody enters the loft. The slot has to stay open, thirty centimetres wide and seven high. No"),
        (11, "timber is treated with chemicals; boron was used once, in 1986, with the result that the nursery moved away for three"),
        (11, "years. Lamps on the east side are amber and go out at 21:00."),
    ],
    [
        (14, "Birds"),
        (11, "A pair of grey wagtails nests behind the wheel. The wheel stands still until the young have left, usually by 12 June; the"),
        (11, "miller is told by the person who does the survey. Eleven pairs of house martins nest under the eaves, three in artificial"),
        (11, "nests. The barn owl box in the orchard was empty again, but pellets were found below it."),
        (11, "Kingfishers were seen on nineteen days."),
        (14, "Methods"),
        (11, "Counting begins fifteen minutes before sunset, with two observers and a detector that is tuned to 110 kilohertz. Evenings"),
        (11, "with rain or with less than ten degrees are repeated."),
    ],
]


def drawn(page):
    """The drawing of a page: each line at its place, larger ones with more space above."""
    parts, y = [], 790
    for size, text in page:
        y -= 15 if size == 11 else 15 + size
        text = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        parts.append(f"BT /F1 {size} Tf 1 0 0 1 60 {y} Tm ({text}) Tj ET")
        if size > 11:
            y -= 6
    return "\n".join(parts).encode("cp1252")


def stream(head, data):
    return b"<< %s /Length %d >>\nstream\n%s\nendstream" % (head.encode(), len(data), data)


def objects(pages, pack):
    """Objects by their numbers: catalogue, tree, font, then a page and its drawing each."""
    kids = " ".join(f"{4 + 2 * index} 0 R" for index in range(len(pages)))
    made = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: f"<< /Type /Pages /Count {len(pages)} /Kids [{kids}] >>".encode(),
        3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    }
    for index, page in enumerate(pages):
        number = 4 + 2 * index
        made[number] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {number + 1} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        ).encode()
        data = drawn(page)
        made[number + 1] = stream("/Filter /FlateDecode", zlib.compress(data)) if pack else stream("", data)
    return made


def plain(pages):
    """A file with a table of places."""
    out, places = bytearray(b"%PDF-1.4\n"), {}
    made = objects(pages, pack=False)
    for number, content in made.items():
        places[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(made) + 1)
    for number in sorted(made):
        out += b"%010d 00000 n \n" % places[number]
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(made) + 1, start)
    return bytes(out)


def packed(pages):
    """A file whose objects, but for streams, are packed in one, with a table that is a stream too."""
    made = objects(pages, pack=True)
    inner = {number: content for number, content in made.items() if b"stream" not in content}
    head, body = "", b""
    for number, content in inner.items():
        head += f"{number} {len(body)} "
        body += content + b"\n"
    box, table = max(made) + 1, max(made) + 2
    data = zlib.compress(head.encode() + body)
    made_box = stream(f"/Type /ObjStm /N {len(inner)} /First {len(head)} /Filter /FlateDecode", data)
    out, places = bytearray(b"%PDF-1.5\n"), {}
    for number, content in {**{n: c for n, c in made.items() if n not in inner}, box: made_box}.items():
        places[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = places[table] = len(out)
    rows = b"\0\0\0\xff"
    order = list(inner)
    for number in range(1, table + 1):
        if number in inner:
            rows += b"\2" + box.to_bytes(2, "big") + bytes([order.index(number)])
        else:
            rows += b"\1" + places[number].to_bytes(2, "big") + b"\0"
    head = f"/Type /XRef /Size {table + 1} /W [1 2 1] /Root 1 0 R /Filter /FlateDecode"
    out += b"%d 0 obj\n%s\nendobj\nstartxref\n%d\n%%%%EOF\n" % (table, stream(head, zlib.compress(rows)), start)
    return bytes(out)


(DOCS / "house" / "weddings.pdf").write_bytes(plain(WEDDINGS))
(DOCS / "garden" / "bats-and-birds.pdf").write_bytes(packed(BATS))
