# encoding: utf-8
from antlr4 import *
from io import StringIO
import sys
if sys.version_info[1] > 5:
	from typing import TextIO
else:
	from typing.io import TextIO

def serializedATN():
    return [
        4,1,52,549,2,0,7,0,2,1,7,1,2,2,7,2,2,3,7,3,2,4,7,4,2,5,7,5,2,6,7,
        6,2,7,7,7,2,8,7,8,2,9,7,9,2,10,7,10,2,11,7,11,2,12,7,12,2,13,7,13,
        2,14,7,14,2,15,7,15,2,16,7,16,2,17,7,17,2,18,7,18,2,19,7,19,2,20,
        7,20,2,21,7,21,2,22,7,22,1,0,5,0,48,8,0,10,0,12,0,51,9,0,1,0,1,0,
        1,1,1,1,1,1,1,1,1,1,1,1,5,1,61,8,1,10,1,12,1,64,9,1,1,1,1,1,1,1,
        1,1,1,1,1,1,1,1,1,1,1,1,3,1,75,8,1,1,1,1,1,1,1,1,1,5,1,81,8,1,10,
        1,12,1,84,9,1,1,1,1,1,1,1,1,1,1,1,5,1,91,8,1,10,1,12,1,94,9,1,1,
        1,1,1,1,1,1,1,1,1,1,1,1,1,5,1,103,8,1,10,1,12,1,106,9,1,1,1,3,1,
        109,8,1,1,2,1,2,1,3,1,3,1,3,1,3,1,3,3,3,118,8,3,1,4,1,4,1,4,1,4,
        1,4,1,4,5,4,126,8,4,10,4,12,4,129,9,4,3,4,131,8,4,1,4,3,4,134,8,
        4,1,4,5,4,137,8,4,10,4,12,4,140,9,4,1,4,1,4,3,4,144,8,4,1,5,1,5,
        5,5,148,8,5,10,5,12,5,151,9,5,1,5,1,5,1,5,1,5,5,5,157,8,5,10,5,12,
        5,160,9,5,1,5,1,5,3,5,164,8,5,1,5,1,5,1,5,1,5,1,5,5,5,171,8,5,10,
        5,12,5,174,9,5,3,5,176,8,5,1,5,3,5,179,8,5,1,5,5,5,182,8,5,10,5,
        12,5,185,9,5,1,5,1,5,3,5,189,8,5,1,6,1,6,1,6,1,6,5,6,195,8,6,10,
        6,12,6,198,9,6,3,6,200,8,6,1,6,1,6,1,6,1,6,5,6,206,8,6,10,6,12,6,
        209,9,6,1,6,3,6,212,8,6,1,7,1,7,5,7,216,8,7,10,7,12,7,219,9,7,1,
        7,1,7,5,7,223,8,7,10,7,12,7,226,9,7,1,7,1,7,3,7,230,8,7,3,7,232,
        8,7,1,8,1,8,1,8,1,8,1,8,1,8,1,8,1,8,5,8,242,8,8,10,8,12,8,245,9,
        8,1,8,1,8,3,8,249,8,8,1,9,1,9,1,9,1,9,1,9,5,9,256,8,9,10,9,12,9,
        259,9,9,1,9,3,9,262,8,9,1,10,1,10,3,10,266,8,10,1,10,1,10,1,11,1,
        11,1,11,1,11,5,11,274,8,11,10,11,12,11,277,9,11,3,11,279,8,11,1,
        11,1,11,3,11,283,8,11,1,12,1,12,5,12,287,8,12,10,12,12,12,290,9,
        12,1,12,1,12,1,13,1,13,1,13,1,13,1,13,5,13,299,8,13,10,13,12,13,
        302,9,13,3,13,304,8,13,1,13,3,13,307,8,13,1,13,1,13,3,13,311,8,13,
        1,13,1,13,1,13,1,13,1,13,5,13,318,8,13,10,13,12,13,321,9,13,3,13,
        323,8,13,1,13,1,13,1,13,4,13,328,8,13,11,13,12,13,329,1,13,1,13,
        1,13,5,13,335,8,13,10,13,12,13,338,9,13,1,13,1,13,1,13,5,13,343,
        8,13,10,13,12,13,346,9,13,1,13,1,13,1,13,1,13,1,13,1,13,1,13,1,13,
        1,13,1,13,5,13,358,8,13,10,13,12,13,361,9,13,1,13,1,13,1,13,1,13,
        5,13,367,8,13,10,13,12,13,370,9,13,1,13,1,13,1,13,1,13,1,13,5,13,
        377,8,13,10,13,12,13,380,9,13,1,13,1,13,1,13,1,13,1,13,5,13,387,
        8,13,10,13,12,13,390,9,13,1,13,1,13,1,13,1,13,1,13,1,13,5,13,398,
        8,13,10,13,12,13,401,9,13,1,13,1,13,3,13,405,8,13,1,13,1,13,1,13,
        1,13,1,13,5,13,412,8,13,10,13,12,13,415,9,13,3,13,417,8,13,1,13,
        1,13,5,13,421,8,13,10,13,12,13,424,9,13,1,13,3,13,427,8,13,1,14,
        1,14,1,14,1,14,3,14,433,8,14,1,14,1,14,1,14,3,14,438,8,14,1,15,1,
        15,1,15,1,15,3,15,444,8,15,1,16,1,16,1,16,1,16,5,16,450,8,16,10,
        16,12,16,453,9,16,3,16,455,8,16,1,16,1,16,1,16,1,16,1,16,5,16,462,
        8,16,10,16,12,16,465,9,16,1,16,1,16,1,16,1,16,1,16,1,16,5,16,473,
        8,16,10,16,12,16,476,9,16,3,16,478,8,16,1,16,1,16,1,16,1,16,1,16,
        1,16,1,16,5,16,487,8,16,10,16,12,16,490,9,16,3,16,492,8,16,1,16,
        1,16,5,16,496,8,16,10,16,12,16,499,9,16,3,16,501,8,16,1,17,1,17,
        1,17,1,18,3,18,507,8,18,1,18,1,18,1,19,3,19,512,8,19,1,19,1,19,1,
        20,1,20,5,20,518,8,20,10,20,12,20,521,9,20,1,21,1,21,1,21,1,22,3,
        22,527,8,22,1,22,1,22,1,22,1,22,1,22,3,22,534,8,22,1,22,1,22,1,22,
        1,22,1,22,3,22,541,8,22,1,22,1,22,1,22,1,22,3,22,547,8,22,1,22,0,
        0,23,0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38,40,42,
        44,0,10,2,0,44,44,46,47,1,0,44,45,4,0,3,3,5,5,12,14,44,48,2,0,43,
        43,45,45,2,0,13,14,34,40,2,0,13,14,41,41,1,0,46,47,3,0,13,14,25,
        25,41,41,2,0,13,14,33,40,1,0,46,48,622,0,49,1,0,0,0,2,108,1,0,0,
        0,4,110,1,0,0,0,6,117,1,0,0,0,8,119,1,0,0,0,10,145,1,0,0,0,12,211,
        1,0,0,0,14,213,1,0,0,0,16,248,1,0,0,0,18,250,1,0,0,0,20,263,1,0,
        0,0,22,282,1,0,0,0,24,284,1,0,0,0,26,426,1,0,0,0,28,428,1,0,0,0,
        30,439,1,0,0,0,32,500,1,0,0,0,34,502,1,0,0,0,36,506,1,0,0,0,38,511,
        1,0,0,0,40,515,1,0,0,0,42,522,1,0,0,0,44,546,1,0,0,0,46,48,3,2,1,
        0,47,46,1,0,0,0,48,51,1,0,0,0,49,47,1,0,0,0,49,50,1,0,0,0,50,52,
        1,0,0,0,51,49,1,0,0,0,52,53,5,0,0,1,53,1,1,0,0,0,54,55,5,1,0,0,55,
        109,7,0,0,0,56,57,5,2,0,0,57,62,5,44,0,0,58,59,5,3,0,0,59,61,5,44,
        0,0,60,58,1,0,0,0,61,64,1,0,0,0,62,60,1,0,0,0,62,63,1,0,0,0,63,109,
        1,0,0,0,64,62,1,0,0,0,65,66,5,4,0,0,66,109,5,47,0,0,67,68,5,5,0,
        0,68,69,5,47,0,0,69,74,5,48,0,0,70,71,5,3,0,0,71,72,5,47,0,0,72,
        73,5,3,0,0,73,75,5,47,0,0,74,70,1,0,0,0,74,75,1,0,0,0,75,109,1,0,
        0,0,76,77,5,6,0,0,77,78,7,1,0,0,78,82,5,7,0,0,79,81,3,4,2,0,80,79,
        1,0,0,0,81,84,1,0,0,0,82,80,1,0,0,0,82,83,1,0,0,0,83,85,1,0,0,0,
        84,82,1,0,0,0,85,109,5,8,0,0,86,87,5,9,0,0,87,92,5,48,0,0,88,89,
        5,3,0,0,89,91,5,48,0,0,90,88,1,0,0,0,91,94,1,0,0,0,92,90,1,0,0,0,
        92,93,1,0,0,0,93,95,1,0,0,0,94,92,1,0,0,0,95,109,5,10,0,0,96,97,
        5,11,0,0,97,98,5,44,0,0,98,99,5,3,0,0,99,100,5,44,0,0,100,109,5,
        10,0,0,101,103,5,42,0,0,102,101,1,0,0,0,103,106,1,0,0,0,104,102,
        1,0,0,0,104,105,1,0,0,0,105,107,1,0,0,0,106,104,1,0,0,0,107,109,
        3,6,3,0,108,54,1,0,0,0,108,56,1,0,0,0,108,65,1,0,0,0,108,67,1,0,
        0,0,108,76,1,0,0,0,108,86,1,0,0,0,108,96,1,0,0,0,108,104,1,0,0,0,
        109,3,1,0,0,0,110,111,7,2,0,0,111,5,1,0,0,0,112,113,3,14,7,0,113,
        114,5,10,0,0,114,118,1,0,0,0,115,118,3,8,4,0,116,118,3,10,5,0,117,
        112,1,0,0,0,117,115,1,0,0,0,117,116,1,0,0,0,118,7,1,0,0,0,119,120,
        5,15,0,0,120,133,5,44,0,0,121,130,5,16,0,0,122,127,3,14,7,0,123,
        124,5,3,0,0,124,126,3,14,7,0,125,123,1,0,0,0,126,129,1,0,0,0,127,
        125,1,0,0,0,127,128,1,0,0,0,128,131,1,0,0,0,129,127,1,0,0,0,130,
        122,1,0,0,0,130,131,1,0,0,0,131,132,1,0,0,0,132,134,5,17,0,0,133,
        121,1,0,0,0,133,134,1,0,0,0,134,138,1,0,0,0,135,137,3,12,6,0,136,
        135,1,0,0,0,137,140,1,0,0,0,138,136,1,0,0,0,138,139,1,0,0,0,139,
        143,1,0,0,0,140,138,1,0,0,0,141,144,3,24,12,0,142,144,5,10,0,0,143,
        141,1,0,0,0,143,142,1,0,0,0,144,9,1,0,0,0,145,149,5,18,0,0,146,148,
        5,45,0,0,147,146,1,0,0,0,148,151,1,0,0,0,149,147,1,0,0,0,149,150,
        1,0,0,0,150,163,1,0,0,0,151,149,1,0,0,0,152,153,5,16,0,0,153,158,
        3,14,7,0,154,155,5,3,0,0,155,157,3,14,7,0,156,154,1,0,0,0,157,160,
        1,0,0,0,158,156,1,0,0,0,158,159,1,0,0,0,159,161,1,0,0,0,160,158,
        1,0,0,0,161,162,5,17,0,0,162,164,1,0,0,0,163,152,1,0,0,0,163,164,
        1,0,0,0,164,165,1,0,0,0,165,178,5,44,0,0,166,175,5,16,0,0,167,172,
        3,14,7,0,168,169,5,3,0,0,169,171,3,14,7,0,170,168,1,0,0,0,171,174,
        1,0,0,0,172,170,1,0,0,0,172,173,1,0,0,0,173,176,1,0,0,0,174,172,
        1,0,0,0,175,167,1,0,0,0,175,176,1,0,0,0,176,177,1,0,0,0,177,179,
        5,17,0,0,178,166,1,0,0,0,178,179,1,0,0,0,179,183,1,0,0,0,180,182,
        3,12,6,0,181,180,1,0,0,0,182,185,1,0,0,0,183,181,1,0,0,0,183,184,
        1,0,0,0,184,188,1,0,0,0,185,183,1,0,0,0,186,189,3,24,12,0,187,189,
        5,10,0,0,188,186,1,0,0,0,188,187,1,0,0,0,189,11,1,0,0,0,190,199,
        5,45,0,0,191,196,5,47,0,0,192,193,5,3,0,0,193,195,5,47,0,0,194,192,
        1,0,0,0,195,198,1,0,0,0,196,194,1,0,0,0,196,197,1,0,0,0,197,200,
        1,0,0,0,198,196,1,0,0,0,199,191,1,0,0,0,199,200,1,0,0,0,200,212,
        1,0,0,0,201,202,5,9,0,0,202,207,5,48,0,0,203,204,5,3,0,0,204,206,
        5,48,0,0,205,203,1,0,0,0,206,209,1,0,0,0,207,205,1,0,0,0,207,208,
        1,0,0,0,208,210,1,0,0,0,209,207,1,0,0,0,210,212,5,10,0,0,211,190,
        1,0,0,0,211,201,1,0,0,0,212,13,1,0,0,0,213,217,5,43,0,0,214,216,
        3,16,8,0,215,214,1,0,0,0,216,219,1,0,0,0,217,215,1,0,0,0,217,218,
        1,0,0,0,218,231,1,0,0,0,219,217,1,0,0,0,220,224,5,44,0,0,221,223,
        3,20,10,0,222,221,1,0,0,0,223,226,1,0,0,0,224,222,1,0,0,0,224,225,
        1,0,0,0,225,229,1,0,0,0,226,224,1,0,0,0,227,228,5,19,0,0,228,230,
        3,22,11,0,229,227,1,0,0,0,229,230,1,0,0,0,230,232,1,0,0,0,231,220,
        1,0,0,0,231,232,1,0,0,0,232,15,1,0,0,0,233,249,7,3,0,0,234,235,5,
        20,0,0,235,249,5,47,0,0,236,237,5,21,0,0,237,238,5,16,0,0,238,243,
        3,18,9,0,239,240,5,3,0,0,240,242,3,18,9,0,241,239,1,0,0,0,242,245,
        1,0,0,0,243,241,1,0,0,0,243,244,1,0,0,0,244,246,1,0,0,0,245,243,
        1,0,0,0,246,247,5,17,0,0,247,249,1,0,0,0,248,233,1,0,0,0,248,234,
        1,0,0,0,248,236,1,0,0,0,249,17,1,0,0,0,250,261,5,45,0,0,251,252,
        5,16,0,0,252,257,5,47,0,0,253,254,5,3,0,0,254,256,5,47,0,0,255,253,
        1,0,0,0,256,259,1,0,0,0,257,255,1,0,0,0,257,258,1,0,0,0,258,260,
        1,0,0,0,259,257,1,0,0,0,260,262,5,17,0,0,261,251,1,0,0,0,261,262,
        1,0,0,0,262,19,1,0,0,0,263,265,5,22,0,0,264,266,5,47,0,0,265,264,
        1,0,0,0,265,266,1,0,0,0,266,267,1,0,0,0,267,268,5,23,0,0,268,21,
        1,0,0,0,269,278,5,7,0,0,270,275,3,22,11,0,271,272,5,3,0,0,272,274,
        3,22,11,0,273,271,1,0,0,0,274,277,1,0,0,0,275,273,1,0,0,0,275,276,
        1,0,0,0,276,279,1,0,0,0,277,275,1,0,0,0,278,270,1,0,0,0,278,279,
        1,0,0,0,279,280,1,0,0,0,280,283,5,8,0,0,281,283,3,40,20,0,282,269,
        1,0,0,0,282,281,1,0,0,0,283,23,1,0,0,0,284,288,5,7,0,0,285,287,3,
        26,13,0,286,285,1,0,0,0,287,290,1,0,0,0,288,286,1,0,0,0,288,289,
        1,0,0,0,289,291,1,0,0,0,290,288,1,0,0,0,291,292,5,8,0,0,292,25,1,
        0,0,0,293,306,5,44,0,0,294,307,5,12,0,0,295,300,3,32,16,0,296,297,
        5,3,0,0,297,299,3,32,16,0,298,296,1,0,0,0,299,302,1,0,0,0,300,298,
        1,0,0,0,300,301,1,0,0,0,301,304,1,0,0,0,302,300,1,0,0,0,303,295,
        1,0,0,0,303,304,1,0,0,0,304,305,1,0,0,0,305,307,5,10,0,0,306,294,
        1,0,0,0,306,303,1,0,0,0,307,427,1,0,0,0,308,310,5,24,0,0,309,311,
        5,25,0,0,310,309,1,0,0,0,310,311,1,0,0,0,311,312,1,0,0,0,312,313,
        5,44,0,0,313,322,5,44,0,0,314,319,3,32,16,0,315,316,5,3,0,0,316,
        318,3,32,16,0,317,315,1,0,0,0,318,321,1,0,0,0,319,317,1,0,0,0,319,
        320,1,0,0,0,320,323,1,0,0,0,321,319,1,0,0,0,322,314,1,0,0,0,322,
        323,1,0,0,0,323,324,1,0,0,0,324,427,5,10,0,0,325,327,5,26,0,0,326,
        328,5,45,0,0,327,326,1,0,0,0,328,329,1,0,0,0,329,327,1,0,0,0,329,
        330,1,0,0,0,330,331,1,0,0,0,331,336,3,30,15,0,332,333,5,3,0,0,333,
        335,3,30,15,0,334,332,1,0,0,0,335,338,1,0,0,0,336,334,1,0,0,0,336,
        337,1,0,0,0,337,339,1,0,0,0,338,336,1,0,0,0,339,340,5,10,0,0,340,
        427,1,0,0,0,341,343,5,42,0,0,342,341,1,0,0,0,343,346,1,0,0,0,344,
        342,1,0,0,0,344,345,1,0,0,0,345,347,1,0,0,0,346,344,1,0,0,0,347,
        348,3,14,7,0,348,349,5,10,0,0,349,427,1,0,0,0,350,427,3,24,12,0,
        351,352,5,27,0,0,352,353,5,47,0,0,353,354,5,47,0,0,354,359,5,47,
        0,0,355,356,5,3,0,0,356,358,3,28,14,0,357,355,1,0,0,0,358,361,1,
        0,0,0,359,357,1,0,0,0,359,360,1,0,0,0,360,427,1,0,0,0,361,359,1,
        0,0,0,362,363,5,9,0,0,363,368,5,48,0,0,364,365,5,3,0,0,365,367,5,
        48,0,0,366,364,1,0,0,0,367,370,1,0,0,0,368,366,1,0,0,0,368,369,1,
        0,0,0,369,371,1,0,0,0,370,368,1,0,0,0,371,427,5,10,0,0,372,373,5,
        28,0,0,373,378,5,44,0,0,374,375,5,3,0,0,375,377,5,44,0,0,376,374,
        1,0,0,0,377,380,1,0,0,0,378,376,1,0,0,0,378,379,1,0,0,0,379,381,
        1,0,0,0,380,378,1,0,0,0,381,427,5,10,0,0,382,383,5,29,0,0,383,388,
        5,44,0,0,384,385,5,3,0,0,385,387,5,44,0,0,386,384,1,0,0,0,387,390,
        1,0,0,0,388,386,1,0,0,0,388,389,1,0,0,0,389,391,1,0,0,0,390,388,
        1,0,0,0,391,427,5,10,0,0,392,404,5,30,0,0,393,394,5,16,0,0,394,399,
        3,14,7,0,395,396,5,3,0,0,396,398,3,14,7,0,397,395,1,0,0,0,398,401,
        1,0,0,0,399,397,1,0,0,0,399,400,1,0,0,0,400,402,1,0,0,0,401,399,
        1,0,0,0,402,403,5,17,0,0,403,405,1,0,0,0,404,393,1,0,0,0,404,405,
        1,0,0,0,405,406,1,0,0,0,406,407,5,44,0,0,407,416,5,16,0,0,408,413,
        3,14,7,0,409,410,5,3,0,0,410,412,3,14,7,0,411,409,1,0,0,0,412,415,
        1,0,0,0,413,411,1,0,0,0,413,414,1,0,0,0,414,417,1,0,0,0,415,413,
        1,0,0,0,416,408,1,0,0,0,416,417,1,0,0,0,417,418,1,0,0,0,418,422,
        5,17,0,0,419,421,3,12,6,0,420,419,1,0,0,0,421,424,1,0,0,0,422,420,
        1,0,0,0,422,423,1,0,0,0,423,425,1,0,0,0,424,422,1,0,0,0,425,427,
        5,10,0,0,426,293,1,0,0,0,426,308,1,0,0,0,426,325,1,0,0,0,426,344,
        1,0,0,0,426,350,1,0,0,0,426,351,1,0,0,0,426,362,1,0,0,0,426,372,
        1,0,0,0,426,382,1,0,0,0,426,392,1,0,0,0,427,27,1,0,0,0,428,437,5,
        44,0,0,429,432,5,44,0,0,430,431,5,13,0,0,431,433,5,47,0,0,432,430,
        1,0,0,0,432,433,1,0,0,0,433,438,1,0,0,0,434,435,5,47,0,0,435,436,
        5,47,0,0,436,438,5,47,0,0,437,429,1,0,0,0,437,434,1,0,0,0,438,29,
        1,0,0,0,439,443,5,44,0,0,440,441,5,31,0,0,441,442,5,47,0,0,442,444,
        5,32,0,0,443,440,1,0,0,0,443,444,1,0,0,0,444,31,1,0,0,0,445,454,
        5,7,0,0,446,451,3,32,16,0,447,448,5,3,0,0,448,450,3,32,16,0,449,
        447,1,0,0,0,450,453,1,0,0,0,451,449,1,0,0,0,451,452,1,0,0,0,452,
        455,1,0,0,0,453,451,1,0,0,0,454,446,1,0,0,0,454,455,1,0,0,0,455,
        456,1,0,0,0,456,501,5,8,0,0,457,458,5,22,0,0,458,463,3,32,16,0,459,
        460,5,3,0,0,460,462,3,32,16,0,461,459,1,0,0,0,462,465,1,0,0,0,463,
        461,1,0,0,0,463,464,1,0,0,0,464,466,1,0,0,0,465,463,1,0,0,0,466,
        467,5,23,0,0,467,501,1,0,0,0,468,477,5,16,0,0,469,474,3,32,16,0,
        470,471,5,3,0,0,471,473,3,32,16,0,472,470,1,0,0,0,473,476,1,0,0,
        0,474,472,1,0,0,0,474,475,1,0,0,0,475,478,1,0,0,0,476,474,1,0,0,
        0,477,469,1,0,0,0,477,478,1,0,0,0,478,479,1,0,0,0,479,501,5,17,0,
        0,480,481,5,25,0,0,481,501,5,44,0,0,482,491,5,44,0,0,483,484,5,33,
        0,0,484,492,5,44,0,0,485,487,3,34,17,0,486,485,1,0,0,0,487,490,1,
        0,0,0,488,486,1,0,0,0,488,489,1,0,0,0,489,492,1,0,0,0,490,488,1,
        0,0,0,491,483,1,0,0,0,491,488,1,0,0,0,492,501,1,0,0,0,493,497,3,
        36,18,0,494,496,3,34,17,0,495,494,1,0,0,0,496,499,1,0,0,0,497,495,
        1,0,0,0,497,498,1,0,0,0,498,501,1,0,0,0,499,497,1,0,0,0,500,445,
        1,0,0,0,500,457,1,0,0,0,500,468,1,0,0,0,500,480,1,0,0,0,500,482,
        1,0,0,0,500,493,1,0,0,0,501,33,1,0,0,0,502,503,7,4,0,0,503,504,3,
        38,19,0,504,35,1,0,0,0,505,507,7,5,0,0,506,505,1,0,0,0,506,507,1,
        0,0,0,507,508,1,0,0,0,508,509,7,6,0,0,509,37,1,0,0,0,510,512,7,7,
        0,0,511,510,1,0,0,0,511,512,1,0,0,0,512,513,1,0,0,0,513,514,7,0,
        0,0,514,39,1,0,0,0,515,519,3,44,22,0,516,518,3,42,21,0,517,516,1,
        0,0,0,518,521,1,0,0,0,519,517,1,0,0,0,519,520,1,0,0,0,520,41,1,0,
        0,0,521,519,1,0,0,0,522,523,7,8,0,0,523,524,3,44,22,0,524,43,1,0,
        0,0,525,527,7,7,0,0,526,525,1,0,0,0,526,527,1,0,0,0,527,528,1,0,
        0,0,528,533,7,9,0,0,529,530,5,16,0,0,530,531,3,40,20,0,531,532,5,
        17,0,0,532,534,1,0,0,0,533,529,1,0,0,0,533,534,1,0,0,0,534,547,1,
        0,0,0,535,540,5,44,0,0,536,537,5,16,0,0,537,538,3,40,20,0,538,539,
        5,17,0,0,539,541,1,0,0,0,540,536,1,0,0,0,540,541,1,0,0,0,541,547,
        1,0,0,0,542,543,5,16,0,0,543,544,3,40,20,0,544,545,5,17,0,0,545,
        547,1,0,0,0,546,526,1,0,0,0,546,535,1,0,0,0,546,542,1,0,0,0,547,
        45,1,0,0,0,76,49,62,74,82,92,104,108,117,127,130,133,138,143,149,
        158,163,172,175,178,183,188,196,199,207,211,217,224,229,231,243,
        248,257,261,265,275,278,282,288,300,303,306,310,319,322,329,336,
        344,359,368,378,388,399,404,413,416,422,426,432,437,443,451,454,
        463,474,477,488,491,497,500,506,511,519,526,533,540,546
    ]

class PtxParser ( Parser ):

    grammarFileName = "Ptx.g4"

    atn = ATNDeserializer().deserialize(serializedATN())

    decisionsToDFA = [ DFA(ds, i) for i, ds in enumerate(atn.decisionToState) ]

    sharedContextCache = PredictionContextCache()

    literalNames = [ "<INVALID>", "'.version'", "'.target'", "','", "'.address_size'", 
                     "'.file'", "'.section'", "'{'", "'}'", "'.pragma'", 
                     "';'", "'.alias'", "':'", "'+'", "'-'", "'.entry'", 
                     "'('", "')'", "'.func'", "'='", "'.align'", "'.attribute'", 
                     "'['", "']'", "'@'", "'!'", "'.reg'", "'.loc'", "'.branchtargets'", 
                     "'.calltargets'", "'.callprototype'", "'<'", "'>'", 
                     "'|'", "'*'", "'/'", "'%'", "'<<'", "'>>'", "'&'", 
                     "'^'", "'~'" ]

    symbolicNames = [ "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "LINKAGE", "SPACE", "NAME", 
                      "DOTTED", "FLOAT", "INTEGER", "STRING", "SPACES", 
                      "LINE_COMMENT", "BLOCK_COMMENT", "OTHER" ]

    RULE_module = 0
    RULE_item = 1
    RULE_sectionWord = 2
    RULE_linked = 3
    RULE_entry = 4
    RULE_function = 5
    RULE_directive = 6
    RULE_variable = 7
    RULE_qualifier = 8
    RULE_attribute = 9
    RULE_dimension = 10
    RULE_initializer = 11
    RULE_block = 12
    RULE_statement = 13
    RULE_locationWord = 14
    RULE_registerName = 15
    RULE_operand = 16
    RULE_tailTerm = 17
    RULE_signed = 18
    RULE_term = 19
    RULE_expression = 20
    RULE_expressionTail = 21
    RULE_expressionTerm = 22

    ruleNames =  [ "module", "item", "sectionWord", "linked", "entry", "function", 
                   "directive", "variable", "qualifier", "attribute", "dimension", 
                   "initializer", "block", "statement", "locationWord", 
                   "registerName", "operand", "tailTerm", "signed", "term", 
                   "expression", "expressionTail", "expressionTerm" ]

    EOF = Token.EOF
    T__0=1
    T__1=2
    T__2=3
    T__3=4
    T__4=5
    T__5=6
    T__6=7
    T__7=8
    T__8=9
    T__9=10
    T__10=11
    T__11=12
    T__12=13
    T__13=14
    T__14=15
    T__15=16
    T__16=17
    T__17=18
    T__18=19
    T__19=20
    T__20=21
    T__21=22
    T__22=23
    T__23=24
    T__24=25
    T__25=26
    T__26=27
    T__27=28
    T__28=29
    T__29=30
    T__30=31
    T__31=32
    T__32=33
    T__33=34
    T__34=35
    T__35=36
    T__36=37
    T__37=38
    T__38=39
    T__39=40
    T__40=41
    LINKAGE=42
    SPACE=43
    NAME=44
    DOTTED=45
    FLOAT=46
    INTEGER=47
    STRING=48
    SPACES=49
    LINE_COMMENT=50
    BLOCK_COMMENT=51
    OTHER=52

    def __init__(self, input:TokenStream, output:TextIO = sys.stdout):
        super().__init__(input, output)
        self.checkVersion("4.13.2")
        self._interp = ParserATNSimulator(self, self.atn, self.decisionsToDFA, self.sharedContextCache)
        self._predicates = None




    class ModuleContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._item = None # ItemContext
            self.items = list() # of ItemContexts

        def EOF(self):
            return self.getToken(PtxParser.EOF, 0)

        def item(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ItemContext)
            else:
                return self.getTypedRuleContext(PtxParser.ItemContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_module




    def module(self):

        localctx = PtxParser.ModuleContext(self, self._ctx, self.state)
        self.enterRule(localctx, 0, self.RULE_module)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 49
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 13194139830902) != 0):
                self.state = 46
                localctx._item = self.item()
                localctx.items.append(localctx._item)
                self.state = 51
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 52
            self.match(PtxParser.EOF)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ItemContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser


        def getRuleIndex(self):
            return PtxParser.RULE_item

     
        def copyFrom(self, ctx:ParserRuleContext):
            super().copyFrom(ctx)



    class VersionContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.number = None # Token
            self.copyFrom(ctx)

        def FLOAT(self):
            return self.getToken(PtxParser.FLOAT, 0)
        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)
        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)


    class TargetContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self._NAME = None # Token
            self.names = list() # of Tokens
            self.copyFrom(ctx)

        def NAME(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.NAME)
            else:
                return self.getToken(PtxParser.NAME, i)


    class AddressSizeContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.bits = None # Token
            self.copyFrom(ctx)

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)


    class FileContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.index = None # Token
            self.path = None # Token
            self.stamp = None # Token
            self.size = None # Token
            self.copyFrom(ctx)

        def INTEGER(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.INTEGER)
            else:
                return self.getToken(PtxParser.INTEGER, i)
        def STRING(self):
            return self.getToken(PtxParser.STRING, 0)


    class SectionContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.name = None # Token
            self._sectionWord = None # SectionWordContext
            self.words = list() # of SectionWordContexts
            self.copyFrom(ctx)

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)
        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)
        def sectionWord(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.SectionWordContext)
            else:
                return self.getTypedRuleContext(PtxParser.SectionWordContext,i)



    class ModulePragmaContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self._STRING = None # Token
            self.texts = list() # of Tokens
            self.copyFrom(ctx)

        def STRING(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.STRING)
            else:
                return self.getToken(PtxParser.STRING, i)


    class AliasContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self._NAME = None # Token
            self.names = list() # of Tokens
            self.copyFrom(ctx)

        def NAME(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.NAME)
            else:
                return self.getToken(PtxParser.NAME, i)


    class SymbolContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self._LINKAGE = None # Token
            self.linkage = list() # of Tokens
            self.of = None # LinkedContext
            self.copyFrom(ctx)

        def linked(self):
            return self.getTypedRuleContext(PtxParser.LinkedContext,0)

        def LINKAGE(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.LINKAGE)
            else:
                return self.getToken(PtxParser.LINKAGE, i)



    def item(self):

        localctx = PtxParser.ItemContext(self, self._ctx, self.state)
        self.enterRule(localctx, 2, self.RULE_item)
        self._la = 0 # Token type
        try:
            self.state = 108
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [1]:
                localctx = PtxParser.VersionContext(self, localctx)
                self.enterOuterAlt(localctx, 1)
                self.state = 54
                self.match(PtxParser.T__0)
                self.state = 55
                localctx.number = self._input.LT(1)
                _la = self._input.LA(1)
                if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 228698418577408) != 0)):
                    localctx.number = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                pass
            elif token in [2]:
                localctx = PtxParser.TargetContext(self, localctx)
                self.enterOuterAlt(localctx, 2)
                self.state = 56
                self.match(PtxParser.T__1)
                self.state = 57
                localctx._NAME = self.match(PtxParser.NAME)
                localctx.names.append(localctx._NAME)
                self.state = 62
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 58
                    self.match(PtxParser.T__2)
                    self.state = 59
                    localctx._NAME = self.match(PtxParser.NAME)
                    localctx.names.append(localctx._NAME)
                    self.state = 64
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                pass
            elif token in [4]:
                localctx = PtxParser.AddressSizeContext(self, localctx)
                self.enterOuterAlt(localctx, 3)
                self.state = 65
                self.match(PtxParser.T__3)
                self.state = 66
                localctx.bits = self.match(PtxParser.INTEGER)
                pass
            elif token in [5]:
                localctx = PtxParser.FileContext(self, localctx)
                self.enterOuterAlt(localctx, 4)
                self.state = 67
                self.match(PtxParser.T__4)
                self.state = 68
                localctx.index = self.match(PtxParser.INTEGER)
                self.state = 69
                localctx.path = self.match(PtxParser.STRING)
                self.state = 74
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==3:
                    self.state = 70
                    self.match(PtxParser.T__2)
                    self.state = 71
                    localctx.stamp = self.match(PtxParser.INTEGER)
                    self.state = 72
                    self.match(PtxParser.T__2)
                    self.state = 73
                    localctx.size = self.match(PtxParser.INTEGER)


                pass
            elif token in [6]:
                localctx = PtxParser.SectionContext(self, localctx)
                self.enterOuterAlt(localctx, 5)
                self.state = 76
                self.match(PtxParser.T__5)
                self.state = 77
                localctx.name = self._input.LT(1)
                _la = self._input.LA(1)
                if not(_la==44 or _la==45):
                    localctx.name = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                self.state = 78
                self.match(PtxParser.T__6)
                self.state = 82
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while (((_la) & ~0x3f) == 0 and ((1 << _la) & 545357767405608) != 0):
                    self.state = 79
                    localctx._sectionWord = self.sectionWord()
                    localctx.words.append(localctx._sectionWord)
                    self.state = 84
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 85
                self.match(PtxParser.T__7)
                pass
            elif token in [9]:
                localctx = PtxParser.ModulePragmaContext(self, localctx)
                self.enterOuterAlt(localctx, 6)
                self.state = 86
                self.match(PtxParser.T__8)
                self.state = 87
                localctx._STRING = self.match(PtxParser.STRING)
                localctx.texts.append(localctx._STRING)
                self.state = 92
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 88
                    self.match(PtxParser.T__2)
                    self.state = 89
                    localctx._STRING = self.match(PtxParser.STRING)
                    localctx.texts.append(localctx._STRING)
                    self.state = 94
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 95
                self.match(PtxParser.T__9)
                pass
            elif token in [11]:
                localctx = PtxParser.AliasContext(self, localctx)
                self.enterOuterAlt(localctx, 7)
                self.state = 96
                self.match(PtxParser.T__10)
                self.state = 97
                localctx._NAME = self.match(PtxParser.NAME)
                localctx.names.append(localctx._NAME)
                self.state = 98
                self.match(PtxParser.T__2)
                self.state = 99
                localctx._NAME = self.match(PtxParser.NAME)
                localctx.names.append(localctx._NAME)
                self.state = 100
                self.match(PtxParser.T__9)
                pass
            elif token in [15, 18, 42, 43]:
                localctx = PtxParser.SymbolContext(self, localctx)
                self.enterOuterAlt(localctx, 8)
                self.state = 104
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==42:
                    self.state = 101
                    localctx._LINKAGE = self.match(PtxParser.LINKAGE)
                    localctx.linkage.append(localctx._LINKAGE)
                    self.state = 106
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 107
                localctx.of = self.linked()
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class SectionWordContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.word = None # Token

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def FLOAT(self):
            return self.getToken(PtxParser.FLOAT, 0)

        def STRING(self):
            return self.getToken(PtxParser.STRING, 0)

        def getRuleIndex(self):
            return PtxParser.RULE_sectionWord




    def sectionWord(self):

        localctx = PtxParser.SectionWordContext(self, self._ctx, self.state)
        self.enterRule(localctx, 4, self.RULE_sectionWord)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 110
            localctx.word = self._input.LT(1)
            _la = self._input.LA(1)
            if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 545357767405608) != 0)):
                localctx.word = self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class LinkedContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.of_variable = None # VariableContext
            self.of_entry = None # EntryContext
            self.of_function = None # FunctionContext

        def variable(self):
            return self.getTypedRuleContext(PtxParser.VariableContext,0)


        def entry(self):
            return self.getTypedRuleContext(PtxParser.EntryContext,0)


        def function(self):
            return self.getTypedRuleContext(PtxParser.FunctionContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_linked




    def linked(self):

        localctx = PtxParser.LinkedContext(self, self._ctx, self.state)
        self.enterRule(localctx, 6, self.RULE_linked)
        try:
            self.state = 117
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [43]:
                self.enterOuterAlt(localctx, 1)
                self.state = 112
                localctx.of_variable = self.variable()
                self.state = 113
                self.match(PtxParser.T__9)
                pass
            elif token in [15]:
                self.enterOuterAlt(localctx, 2)
                self.state = 115
                localctx.of_entry = self.entry()
                pass
            elif token in [18]:
                self.enterOuterAlt(localctx, 3)
                self.state = 116
                localctx.of_function = self.function()
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class EntryContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.name = None # Token
            self._variable = None # VariableContext
            self.params = list() # of VariableContexts
            self._directive = None # DirectiveContext
            self.directives = list() # of DirectiveContexts
            self.body = None # BlockContext

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def block(self):
            return self.getTypedRuleContext(PtxParser.BlockContext,0)


        def directive(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.DirectiveContext)
            else:
                return self.getTypedRuleContext(PtxParser.DirectiveContext,i)


        def variable(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.VariableContext)
            else:
                return self.getTypedRuleContext(PtxParser.VariableContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_entry




    def entry(self):

        localctx = PtxParser.EntryContext(self, self._ctx, self.state)
        self.enterRule(localctx, 8, self.RULE_entry)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 119
            self.match(PtxParser.T__14)
            self.state = 120
            localctx.name = self.match(PtxParser.NAME)
            self.state = 133
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==16:
                self.state = 121
                self.match(PtxParser.T__15)
                self.state = 130
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==43:
                    self.state = 122
                    localctx._variable = self.variable()
                    localctx.params.append(localctx._variable)
                    self.state = 127
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 123
                        self.match(PtxParser.T__2)
                        self.state = 124
                        localctx._variable = self.variable()
                        localctx.params.append(localctx._variable)
                        self.state = 129
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 132
                self.match(PtxParser.T__16)


            self.state = 138
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==9 or _la==45:
                self.state = 135
                localctx._directive = self.directive()
                localctx.directives.append(localctx._directive)
                self.state = 140
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 143
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [7]:
                self.state = 141
                localctx.body = self.block()
                pass
            elif token in [10]:
                self.state = 142
                self.match(PtxParser.T__9)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class FunctionContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._DOTTED = None # Token
            self.before = list() # of Tokens
            self._variable = None # VariableContext
            self.results = list() # of VariableContexts
            self.name = None # Token
            self.params = list() # of VariableContexts
            self._directive = None # DirectiveContext
            self.directives = list() # of DirectiveContexts
            self.body = None # BlockContext

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def block(self):
            return self.getTypedRuleContext(PtxParser.BlockContext,0)


        def DOTTED(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.DOTTED)
            else:
                return self.getToken(PtxParser.DOTTED, i)

        def variable(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.VariableContext)
            else:
                return self.getTypedRuleContext(PtxParser.VariableContext,i)


        def directive(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.DirectiveContext)
            else:
                return self.getTypedRuleContext(PtxParser.DirectiveContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_function




    def function(self):

        localctx = PtxParser.FunctionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 10, self.RULE_function)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 145
            self.match(PtxParser.T__17)
            self.state = 149
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==45:
                self.state = 146
                localctx._DOTTED = self.match(PtxParser.DOTTED)
                localctx.before.append(localctx._DOTTED)
                self.state = 151
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 163
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==16:
                self.state = 152
                self.match(PtxParser.T__15)
                self.state = 153
                localctx._variable = self.variable()
                localctx.results.append(localctx._variable)
                self.state = 158
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 154
                    self.match(PtxParser.T__2)
                    self.state = 155
                    localctx._variable = self.variable()
                    localctx.results.append(localctx._variable)
                    self.state = 160
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 161
                self.match(PtxParser.T__16)


            self.state = 165
            localctx.name = self.match(PtxParser.NAME)
            self.state = 178
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==16:
                self.state = 166
                self.match(PtxParser.T__15)
                self.state = 175
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==43:
                    self.state = 167
                    localctx._variable = self.variable()
                    localctx.params.append(localctx._variable)
                    self.state = 172
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 168
                        self.match(PtxParser.T__2)
                        self.state = 169
                        localctx._variable = self.variable()
                        localctx.params.append(localctx._variable)
                        self.state = 174
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 177
                self.match(PtxParser.T__16)


            self.state = 183
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==9 or _la==45:
                self.state = 180
                localctx._directive = self.directive()
                localctx.directives.append(localctx._directive)
                self.state = 185
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 188
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [7]:
                self.state = 186
                localctx.body = self.block()
                pass
            elif token in [10]:
                self.state = 187
                self.match(PtxParser.T__9)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DirectiveContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.name = None # Token
            self._INTEGER = None # Token
            self.values = list() # of Tokens
            self._STRING = None # Token
            self.texts = list() # of Tokens

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)

        def INTEGER(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.INTEGER)
            else:
                return self.getToken(PtxParser.INTEGER, i)

        def STRING(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.STRING)
            else:
                return self.getToken(PtxParser.STRING, i)

        def getRuleIndex(self):
            return PtxParser.RULE_directive




    def directive(self):

        localctx = PtxParser.DirectiveContext(self, self._ctx, self.state)
        self.enterRule(localctx, 12, self.RULE_directive)
        self._la = 0 # Token type
        try:
            self.state = 211
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [45]:
                self.enterOuterAlt(localctx, 1)
                self.state = 190
                localctx.name = self.match(PtxParser.DOTTED)
                self.state = 199
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==47:
                    self.state = 191
                    localctx._INTEGER = self.match(PtxParser.INTEGER)
                    localctx.values.append(localctx._INTEGER)
                    self.state = 196
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 192
                        self.match(PtxParser.T__2)
                        self.state = 193
                        localctx._INTEGER = self.match(PtxParser.INTEGER)
                        localctx.values.append(localctx._INTEGER)
                        self.state = 198
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                pass
            elif token in [9]:
                self.enterOuterAlt(localctx, 2)
                self.state = 201
                self.match(PtxParser.T__8)
                self.state = 202
                localctx._STRING = self.match(PtxParser.STRING)
                localctx.texts.append(localctx._STRING)
                self.state = 207
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 203
                    self.match(PtxParser.T__2)
                    self.state = 204
                    localctx._STRING = self.match(PtxParser.STRING)
                    localctx.texts.append(localctx._STRING)
                    self.state = 209
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 210
                self.match(PtxParser.T__9)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class VariableContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.space = None # Token
            self._qualifier = None # QualifierContext
            self.qualifiers = list() # of QualifierContexts
            self.name = None # Token
            self._dimension = None # DimensionContext
            self.dims = list() # of DimensionContexts
            self.init = None # InitializerContext

        def SPACE(self):
            return self.getToken(PtxParser.SPACE, 0)

        def qualifier(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.QualifierContext)
            else:
                return self.getTypedRuleContext(PtxParser.QualifierContext,i)


        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def dimension(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.DimensionContext)
            else:
                return self.getTypedRuleContext(PtxParser.DimensionContext,i)


        def initializer(self):
            return self.getTypedRuleContext(PtxParser.InitializerContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_variable




    def variable(self):

        localctx = PtxParser.VariableContext(self, self._ctx, self.state)
        self.enterRule(localctx, 14, self.RULE_variable)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 213
            localctx.space = self.match(PtxParser.SPACE)
            self.state = 217
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 43980468256768) != 0):
                self.state = 214
                localctx._qualifier = self.qualifier()
                localctx.qualifiers.append(localctx._qualifier)
                self.state = 219
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 231
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==44:
                self.state = 220
                localctx.name = self.match(PtxParser.NAME)
                self.state = 224
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==22:
                    self.state = 221
                    localctx._dimension = self.dimension()
                    localctx.dims.append(localctx._dimension)
                    self.state = 226
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 229
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==19:
                    self.state = 227
                    self.match(PtxParser.T__18)
                    self.state = 228
                    localctx.init = self.initializer()




        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class QualifierContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.word = None # Token
            self.bytes = None # Token
            self._attribute = None # AttributeContext
            self.attributes = list() # of AttributeContexts

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)

        def SPACE(self):
            return self.getToken(PtxParser.SPACE, 0)

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def attribute(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.AttributeContext)
            else:
                return self.getTypedRuleContext(PtxParser.AttributeContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_qualifier




    def qualifier(self):

        localctx = PtxParser.QualifierContext(self, self._ctx, self.state)
        self.enterRule(localctx, 16, self.RULE_qualifier)
        self._la = 0 # Token type
        try:
            self.state = 248
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [43, 45]:
                self.enterOuterAlt(localctx, 1)
                self.state = 233
                localctx.word = self._input.LT(1)
                _la = self._input.LA(1)
                if not(_la==43 or _la==45):
                    localctx.word = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                pass
            elif token in [20]:
                self.enterOuterAlt(localctx, 2)
                self.state = 234
                self.match(PtxParser.T__19)
                self.state = 235
                localctx.bytes = self.match(PtxParser.INTEGER)
                pass
            elif token in [21]:
                self.enterOuterAlt(localctx, 3)
                self.state = 236
                self.match(PtxParser.T__20)
                self.state = 237
                self.match(PtxParser.T__15)
                self.state = 238
                localctx._attribute = self.attribute()
                localctx.attributes.append(localctx._attribute)
                self.state = 243
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 239
                    self.match(PtxParser.T__2)
                    self.state = 240
                    localctx._attribute = self.attribute()
                    localctx.attributes.append(localctx._attribute)
                    self.state = 245
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 246
                self.match(PtxParser.T__16)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class AttributeContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.name = None # Token
            self._INTEGER = None # Token
            self.values = list() # of Tokens

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)

        def INTEGER(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.INTEGER)
            else:
                return self.getToken(PtxParser.INTEGER, i)

        def getRuleIndex(self):
            return PtxParser.RULE_attribute




    def attribute(self):

        localctx = PtxParser.AttributeContext(self, self._ctx, self.state)
        self.enterRule(localctx, 18, self.RULE_attribute)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 250
            localctx.name = self.match(PtxParser.DOTTED)
            self.state = 261
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==16:
                self.state = 251
                self.match(PtxParser.T__15)
                self.state = 252
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.values.append(localctx._INTEGER)
                self.state = 257
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 253
                    self.match(PtxParser.T__2)
                    self.state = 254
                    localctx._INTEGER = self.match(PtxParser.INTEGER)
                    localctx.values.append(localctx._INTEGER)
                    self.state = 259
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 260
                self.match(PtxParser.T__16)


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DimensionContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.size = None # Token

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def getRuleIndex(self):
            return PtxParser.RULE_dimension




    def dimension(self):

        localctx = PtxParser.DimensionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 20, self.RULE_dimension)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 263
            self.match(PtxParser.T__21)
            self.state = 265
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==47:
                self.state = 264
                localctx.size = self.match(PtxParser.INTEGER)


            self.state = 267
            self.match(PtxParser.T__22)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class InitializerContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._initializer = None # InitializerContext
            self.parts = list() # of InitializerContexts
            self.of = None # ExpressionContext

        def initializer(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.InitializerContext)
            else:
                return self.getTypedRuleContext(PtxParser.InitializerContext,i)


        def expression(self):
            return self.getTypedRuleContext(PtxParser.ExpressionContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_initializer




    def initializer(self):

        localctx = PtxParser.InitializerContext(self, self._ctx, self.state)
        self.enterRule(localctx, 22, self.RULE_initializer)
        self._la = 0 # Token type
        try:
            self.state = 282
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [7]:
                self.enterOuterAlt(localctx, 1)
                self.state = 269
                self.match(PtxParser.T__6)
                self.state = 278
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 512372452188288) != 0):
                    self.state = 270
                    localctx._initializer = self.initializer()
                    localctx.parts.append(localctx._initializer)
                    self.state = 275
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 271
                        self.match(PtxParser.T__2)
                        self.state = 272
                        localctx._initializer = self.initializer()
                        localctx.parts.append(localctx._initializer)
                        self.state = 277
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 280
                self.match(PtxParser.T__7)
                pass
            elif token in [13, 14, 16, 25, 41, 44, 46, 47, 48]:
                self.enterOuterAlt(localctx, 2)
                self.state = 281
                localctx.of = self.expression()
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class BlockContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._statement = None # StatementContext
            self.statements = list() # of StatementContexts

        def statement(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.StatementContext)
            else:
                return self.getTypedRuleContext(PtxParser.StatementContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_block




    def block(self):

        localctx = PtxParser.BlockContext(self, self._ctx, self.state)
        self.enterRule(localctx, 24, self.RULE_block)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 284
            self.match(PtxParser.T__6)
            self.state = 288
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 30788422730368) != 0):
                self.state = 285
                localctx._statement = self.statement()
                localctx.statements.append(localctx._statement)
                self.state = 290
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 291
            self.match(PtxParser.T__7)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class StatementContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser


        def getRuleIndex(self):
            return PtxParser.RULE_statement

     
        def copyFrom(self, ctx:ParserRuleContext):
            super().copyFrom(ctx)



    class NamedContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self.name = None # Token
            self.colon = None # Token
            self._operand = None # OperandContext
            self.operands = list() # of OperandContexts
            self.copyFrom(ctx)

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)
        def operand(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.OperandContext)
            else:
                return self.getTypedRuleContext(PtxParser.OperandContext,i)



    class GuardedContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self.negated = None # Token
            self.guard = None # Token
            self.opcode = None # Token
            self._operand = None # OperandContext
            self.operands = list() # of OperandContexts
            self.copyFrom(ctx)

        def NAME(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.NAME)
            else:
                return self.getToken(PtxParser.NAME, i)
        def operand(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.OperandContext)
            else:
                return self.getTypedRuleContext(PtxParser.OperandContext,i)



    class RegistersContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._DOTTED = None # Token
            self.types = list() # of Tokens
            self._registerName = None # RegisterNameContext
            self.registers = list() # of RegisterNameContexts
            self.copyFrom(ctx)

        def registerName(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.RegisterNameContext)
            else:
                return self.getTypedRuleContext(PtxParser.RegisterNameContext,i)

        def DOTTED(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.DOTTED)
            else:
                return self.getToken(PtxParser.DOTTED, i)


    class LocalContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._LINKAGE = None # Token
            self.linkage = list() # of Tokens
            self.of = None # VariableContext
            self.copyFrom(ctx)

        def variable(self):
            return self.getTypedRuleContext(PtxParser.VariableContext,0)

        def LINKAGE(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.LINKAGE)
            else:
                return self.getToken(PtxParser.LINKAGE, i)


    class ScopeContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self.of_block = None # BlockContext
            self.copyFrom(ctx)

        def block(self):
            return self.getTypedRuleContext(PtxParser.BlockContext,0)



    class LocationContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._INTEGER = None # Token
            self.where = list() # of Tokens
            self._locationWord = None # LocationWordContext
            self.words = list() # of LocationWordContexts
            self.copyFrom(ctx)

        def INTEGER(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.INTEGER)
            else:
                return self.getToken(PtxParser.INTEGER, i)
        def locationWord(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.LocationWordContext)
            else:
                return self.getTypedRuleContext(PtxParser.LocationWordContext,i)



    class PragmaContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._STRING = None # Token
            self.texts = list() # of Tokens
            self.copyFrom(ctx)

        def STRING(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.STRING)
            else:
                return self.getToken(PtxParser.STRING, i)


    class BranchTargetsContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._NAME = None # Token
            self.names = list() # of Tokens
            self.copyFrom(ctx)

        def NAME(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.NAME)
            else:
                return self.getToken(PtxParser.NAME, i)


    class CallTargetsContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._NAME = None # Token
            self.names = list() # of Tokens
            self.copyFrom(ctx)

        def NAME(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.NAME)
            else:
                return self.getToken(PtxParser.NAME, i)


    class CallPrototypeContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._variable = None # VariableContext
            self.results = list() # of VariableContexts
            self.name = None # Token
            self.params = list() # of VariableContexts
            self._directive = None # DirectiveContext
            self.directives = list() # of DirectiveContexts
            self.copyFrom(ctx)

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)
        def variable(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.VariableContext)
            else:
                return self.getTypedRuleContext(PtxParser.VariableContext,i)

        def directive(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.DirectiveContext)
            else:
                return self.getTypedRuleContext(PtxParser.DirectiveContext,i)




    def statement(self):

        localctx = PtxParser.StatementContext(self, self._ctx, self.state)
        self.enterRule(localctx, 26, self.RULE_statement)
        self._la = 0 # Token type
        try:
            self.state = 426
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [44]:
                localctx = PtxParser.NamedContext(self, localctx)
                self.enterOuterAlt(localctx, 1)
                self.state = 293
                localctx.name = self.match(PtxParser.NAME)
                self.state = 306
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [12]:
                    self.state = 294
                    localctx.colon = self.match(PtxParser.T__11)
                    pass
                elif token in [7, 10, 13, 14, 16, 22, 25, 41, 44, 46, 47]:
                    self.state = 303
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if (((_la) & ~0x3f) == 0 and ((1 << _la) & 230897479671936) != 0):
                        self.state = 295
                        localctx._operand = self.operand()
                        localctx.operands.append(localctx._operand)
                        self.state = 300
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)
                        while _la==3:
                            self.state = 296
                            self.match(PtxParser.T__2)
                            self.state = 297
                            localctx._operand = self.operand()
                            localctx.operands.append(localctx._operand)
                            self.state = 302
                            self._errHandler.sync(self)
                            _la = self._input.LA(1)



                    self.state = 305
                    self.match(PtxParser.T__9)
                    pass
                else:
                    raise NoViableAltException(self)

                pass
            elif token in [24]:
                localctx = PtxParser.GuardedContext(self, localctx)
                self.enterOuterAlt(localctx, 2)
                self.state = 308
                self.match(PtxParser.T__23)
                self.state = 310
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==25:
                    self.state = 309
                    localctx.negated = self.match(PtxParser.T__24)


                self.state = 312
                localctx.guard = self.match(PtxParser.NAME)
                self.state = 313
                localctx.opcode = self.match(PtxParser.NAME)
                self.state = 322
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 230897479671936) != 0):
                    self.state = 314
                    localctx._operand = self.operand()
                    localctx.operands.append(localctx._operand)
                    self.state = 319
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 315
                        self.match(PtxParser.T__2)
                        self.state = 316
                        localctx._operand = self.operand()
                        localctx.operands.append(localctx._operand)
                        self.state = 321
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 324
                self.match(PtxParser.T__9)
                pass
            elif token in [26]:
                localctx = PtxParser.RegistersContext(self, localctx)
                self.enterOuterAlt(localctx, 3)
                self.state = 325
                self.match(PtxParser.T__25)
                self.state = 327 
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while True:
                    self.state = 326
                    localctx._DOTTED = self.match(PtxParser.DOTTED)
                    localctx.types.append(localctx._DOTTED)
                    self.state = 329 
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if not (_la==45):
                        break

                self.state = 331
                localctx._registerName = self.registerName()
                localctx.registers.append(localctx._registerName)
                self.state = 336
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 332
                    self.match(PtxParser.T__2)
                    self.state = 333
                    localctx._registerName = self.registerName()
                    localctx.registers.append(localctx._registerName)
                    self.state = 338
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 339
                self.match(PtxParser.T__9)
                pass
            elif token in [42, 43]:
                localctx = PtxParser.LocalContext(self, localctx)
                self.enterOuterAlt(localctx, 4)
                self.state = 344
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==42:
                    self.state = 341
                    localctx._LINKAGE = self.match(PtxParser.LINKAGE)
                    localctx.linkage.append(localctx._LINKAGE)
                    self.state = 346
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 347
                localctx.of = self.variable()
                self.state = 348
                self.match(PtxParser.T__9)
                pass
            elif token in [7]:
                localctx = PtxParser.ScopeContext(self, localctx)
                self.enterOuterAlt(localctx, 5)
                self.state = 350
                localctx.of_block = self.block()
                pass
            elif token in [27]:
                localctx = PtxParser.LocationContext(self, localctx)
                self.enterOuterAlt(localctx, 6)
                self.state = 351
                self.match(PtxParser.T__26)
                self.state = 352
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                self.state = 353
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                self.state = 354
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                self.state = 359
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 355
                    self.match(PtxParser.T__2)
                    self.state = 356
                    localctx._locationWord = self.locationWord()
                    localctx.words.append(localctx._locationWord)
                    self.state = 361
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                pass
            elif token in [9]:
                localctx = PtxParser.PragmaContext(self, localctx)
                self.enterOuterAlt(localctx, 7)
                self.state = 362
                self.match(PtxParser.T__8)
                self.state = 363
                localctx._STRING = self.match(PtxParser.STRING)
                localctx.texts.append(localctx._STRING)
                self.state = 368
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 364
                    self.match(PtxParser.T__2)
                    self.state = 365
                    localctx._STRING = self.match(PtxParser.STRING)
                    localctx.texts.append(localctx._STRING)
                    self.state = 370
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 371
                self.match(PtxParser.T__9)
                pass
            elif token in [28]:
                localctx = PtxParser.BranchTargetsContext(self, localctx)
                self.enterOuterAlt(localctx, 8)
                self.state = 372
                self.match(PtxParser.T__27)
                self.state = 373
                localctx._NAME = self.match(PtxParser.NAME)
                localctx.names.append(localctx._NAME)
                self.state = 378
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 374
                    self.match(PtxParser.T__2)
                    self.state = 375
                    localctx._NAME = self.match(PtxParser.NAME)
                    localctx.names.append(localctx._NAME)
                    self.state = 380
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 381
                self.match(PtxParser.T__9)
                pass
            elif token in [29]:
                localctx = PtxParser.CallTargetsContext(self, localctx)
                self.enterOuterAlt(localctx, 9)
                self.state = 382
                self.match(PtxParser.T__28)
                self.state = 383
                localctx._NAME = self.match(PtxParser.NAME)
                localctx.names.append(localctx._NAME)
                self.state = 388
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 384
                    self.match(PtxParser.T__2)
                    self.state = 385
                    localctx._NAME = self.match(PtxParser.NAME)
                    localctx.names.append(localctx._NAME)
                    self.state = 390
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 391
                self.match(PtxParser.T__9)
                pass
            elif token in [30]:
                localctx = PtxParser.CallPrototypeContext(self, localctx)
                self.enterOuterAlt(localctx, 10)
                self.state = 392
                self.match(PtxParser.T__29)
                self.state = 404
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==16:
                    self.state = 393
                    self.match(PtxParser.T__15)
                    self.state = 394
                    localctx._variable = self.variable()
                    localctx.results.append(localctx._variable)
                    self.state = 399
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 395
                        self.match(PtxParser.T__2)
                        self.state = 396
                        localctx._variable = self.variable()
                        localctx.results.append(localctx._variable)
                        self.state = 401
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)

                    self.state = 402
                    self.match(PtxParser.T__16)


                self.state = 406
                localctx.name = self.match(PtxParser.NAME)
                self.state = 407
                self.match(PtxParser.T__15)
                self.state = 416
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==43:
                    self.state = 408
                    localctx._variable = self.variable()
                    localctx.params.append(localctx._variable)
                    self.state = 413
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 409
                        self.match(PtxParser.T__2)
                        self.state = 410
                        localctx._variable = self.variable()
                        localctx.params.append(localctx._variable)
                        self.state = 415
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 418
                self.match(PtxParser.T__16)
                self.state = 422
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==9 or _la==45:
                    self.state = 419
                    localctx._directive = self.directive()
                    localctx.directives.append(localctx._directive)
                    self.state = 424
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 425
                self.match(PtxParser.T__9)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class LocationWordContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.word = None # Token
            self.name = None # Token
            self.offset = None # Token
            self._INTEGER = None # Token
            self.where = list() # of Tokens

        def NAME(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.NAME)
            else:
                return self.getToken(PtxParser.NAME, i)

        def INTEGER(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.INTEGER)
            else:
                return self.getToken(PtxParser.INTEGER, i)

        def getRuleIndex(self):
            return PtxParser.RULE_locationWord




    def locationWord(self):

        localctx = PtxParser.LocationWordContext(self, self._ctx, self.state)
        self.enterRule(localctx, 28, self.RULE_locationWord)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 428
            localctx.word = self.match(PtxParser.NAME)
            self.state = 437
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [44]:
                self.state = 429
                localctx.name = self.match(PtxParser.NAME)
                self.state = 432
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==13:
                    self.state = 430
                    self.match(PtxParser.T__12)
                    self.state = 431
                    localctx.offset = self.match(PtxParser.INTEGER)


                pass
            elif token in [47]:
                self.state = 434
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                self.state = 435
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                self.state = 436
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class RegisterNameContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.name = None # Token
            self.count = None # Token

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def getRuleIndex(self):
            return PtxParser.RULE_registerName




    def registerName(self):

        localctx = PtxParser.RegisterNameContext(self, self._ctx, self.state)
        self.enterRule(localctx, 30, self.RULE_registerName)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 439
            localctx.name = self.match(PtxParser.NAME)
            self.state = 443
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==31:
                self.state = 440
                self.match(PtxParser.T__30)
                self.state = 441
                localctx.count = self.match(PtxParser.INTEGER)
                self.state = 442
                self.match(PtxParser.T__31)


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class OperandContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser


        def getRuleIndex(self):
            return PtxParser.RULE_operand

     
        def copyFrom(self, ctx:ParserRuleContext):
            super().copyFrom(ctx)



    class VectorContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self._operand = None # OperandContext
            self.parts = list() # of OperandContexts
            self.copyFrom(ctx)

        def operand(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.OperandContext)
            else:
                return self.getTypedRuleContext(PtxParser.OperandContext,i)



    class AddressContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self._operand = None # OperandContext
            self.parts = list() # of OperandContexts
            self.copyFrom(ctx)

        def operand(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.OperandContext)
            else:
                return self.getTypedRuleContext(PtxParser.OperandContext,i)



    class TupleContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self._operand = None # OperandContext
            self.parts = list() # of OperandContexts
            self.copyFrom(ctx)

        def operand(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.OperandContext)
            else:
                return self.getTypedRuleContext(PtxParser.OperandContext,i)



    class NegatedContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self.name = None # Token
            self.copyFrom(ctx)

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)


    class SymbolicContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self.first = None # Token
            self.other = None # Token
            self._tailTerm = None # TailTermContext
            self.tail = list() # of TailTermContexts
            self.copyFrom(ctx)

        def NAME(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.NAME)
            else:
                return self.getToken(PtxParser.NAME, i)
        def tailTerm(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.TailTermContext)
            else:
                return self.getTypedRuleContext(PtxParser.TailTermContext,i)



    class LiteralContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self.number = None # SignedContext
            self._tailTerm = None # TailTermContext
            self.tail = list() # of TailTermContexts
            self.copyFrom(ctx)

        def signed(self):
            return self.getTypedRuleContext(PtxParser.SignedContext,0)

        def tailTerm(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.TailTermContext)
            else:
                return self.getTypedRuleContext(PtxParser.TailTermContext,i)




    def operand(self):

        localctx = PtxParser.OperandContext(self, self._ctx, self.state)
        self.enterRule(localctx, 32, self.RULE_operand)
        self._la = 0 # Token type
        try:
            self.state = 500
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [7]:
                localctx = PtxParser.VectorContext(self, localctx)
                self.enterOuterAlt(localctx, 1)
                self.state = 445
                self.match(PtxParser.T__6)
                self.state = 454
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 230897479671936) != 0):
                    self.state = 446
                    localctx._operand = self.operand()
                    localctx.parts.append(localctx._operand)
                    self.state = 451
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 447
                        self.match(PtxParser.T__2)
                        self.state = 448
                        localctx._operand = self.operand()
                        localctx.parts.append(localctx._operand)
                        self.state = 453
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 456
                self.match(PtxParser.T__7)
                pass
            elif token in [22]:
                localctx = PtxParser.AddressContext(self, localctx)
                self.enterOuterAlt(localctx, 2)
                self.state = 457
                self.match(PtxParser.T__21)
                self.state = 458
                localctx._operand = self.operand()
                localctx.parts.append(localctx._operand)
                self.state = 463
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 459
                    self.match(PtxParser.T__2)
                    self.state = 460
                    localctx._operand = self.operand()
                    localctx.parts.append(localctx._operand)
                    self.state = 465
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 466
                self.match(PtxParser.T__22)
                pass
            elif token in [16]:
                localctx = PtxParser.TupleContext(self, localctx)
                self.enterOuterAlt(localctx, 3)
                self.state = 468
                self.match(PtxParser.T__15)
                self.state = 477
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 230897479671936) != 0):
                    self.state = 469
                    localctx._operand = self.operand()
                    localctx.parts.append(localctx._operand)
                    self.state = 474
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 470
                        self.match(PtxParser.T__2)
                        self.state = 471
                        localctx._operand = self.operand()
                        localctx.parts.append(localctx._operand)
                        self.state = 476
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 479
                self.match(PtxParser.T__16)
                pass
            elif token in [25]:
                localctx = PtxParser.NegatedContext(self, localctx)
                self.enterOuterAlt(localctx, 4)
                self.state = 480
                self.match(PtxParser.T__24)
                self.state = 481
                localctx.name = self.match(PtxParser.NAME)
                pass
            elif token in [44]:
                localctx = PtxParser.SymbolicContext(self, localctx)
                self.enterOuterAlt(localctx, 5)
                self.state = 482
                localctx.first = self.match(PtxParser.NAME)
                self.state = 491
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [33]:
                    self.state = 483
                    self.match(PtxParser.T__32)
                    self.state = 484
                    localctx.other = self.match(PtxParser.NAME)
                    pass
                elif token in [3, 8, 10, 13, 14, 17, 23, 34, 35, 36, 37, 38, 39, 40]:
                    self.state = 488
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while (((_la) & ~0x3f) == 0 and ((1 << _la) & 2181843410944) != 0):
                        self.state = 485
                        localctx._tailTerm = self.tailTerm()
                        localctx.tail.append(localctx._tailTerm)
                        self.state = 490
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)

                    pass
                else:
                    raise NoViableAltException(self)

                pass
            elif token in [13, 14, 41, 46, 47]:
                localctx = PtxParser.LiteralContext(self, localctx)
                self.enterOuterAlt(localctx, 6)
                self.state = 493
                localctx.number = self.signed()
                self.state = 497
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while (((_la) & ~0x3f) == 0 and ((1 << _la) & 2181843410944) != 0):
                    self.state = 494
                    localctx._tailTerm = self.tailTerm()
                    localctx.tail.append(localctx._tailTerm)
                    self.state = 499
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class TailTermContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.operator = None # Token
            self.of_term = None # TermContext

        def term(self):
            return self.getTypedRuleContext(PtxParser.TermContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_tailTerm




    def tailTerm(self):

        localctx = PtxParser.TailTermContext(self, self._ctx, self.state)
        self.enterRule(localctx, 34, self.RULE_tailTerm)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 502
            localctx.operator = self._input.LT(1)
            _la = self._input.LA(1)
            if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 2181843410944) != 0)):
                localctx.operator = self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
            self.state = 503
            localctx.of_term = self.term()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class SignedContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.sign = None # Token
            self.number = None # Token

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def FLOAT(self):
            return self.getToken(PtxParser.FLOAT, 0)

        def getRuleIndex(self):
            return PtxParser.RULE_signed




    def signed(self):

        localctx = PtxParser.SignedContext(self, self._ctx, self.state)
        self.enterRule(localctx, 36, self.RULE_signed)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 506
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if (((_la) & ~0x3f) == 0 and ((1 << _la) & 2199023280128) != 0):
                self.state = 505
                localctx.sign = self._input.LT(1)
                _la = self._input.LA(1)
                if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 2199023280128) != 0)):
                    localctx.sign = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()


            self.state = 508
            localctx.number = self._input.LT(1)
            _la = self._input.LA(1)
            if not(_la==46 or _la==47):
                localctx.number = self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class TermContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.sign = None # Token
            self.of = None # Token

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def FLOAT(self):
            return self.getToken(PtxParser.FLOAT, 0)

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def getRuleIndex(self):
            return PtxParser.RULE_term




    def term(self):

        localctx = PtxParser.TermContext(self, self._ctx, self.state)
        self.enterRule(localctx, 38, self.RULE_term)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 511
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if (((_la) & ~0x3f) == 0 and ((1 << _la) & 2199056834560) != 0):
                self.state = 510
                localctx.sign = self._input.LT(1)
                _la = self._input.LA(1)
                if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 2199056834560) != 0)):
                    localctx.sign = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()


            self.state = 513
            localctx.of = self._input.LT(1)
            _la = self._input.LA(1)
            if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 228698418577408) != 0)):
                localctx.of = self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ExpressionContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.first = None # ExpressionTermContext
            self._expressionTail = None # ExpressionTailContext
            self.tail = list() # of ExpressionTailContexts

        def expressionTerm(self):
            return self.getTypedRuleContext(PtxParser.ExpressionTermContext,0)


        def expressionTail(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ExpressionTailContext)
            else:
                return self.getTypedRuleContext(PtxParser.ExpressionTailContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_expression




    def expression(self):

        localctx = PtxParser.ExpressionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 40, self.RULE_expression)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 515
            localctx.first = self.expressionTerm()
            self.state = 519
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 2190433345536) != 0):
                self.state = 516
                localctx._expressionTail = self.expressionTail()
                localctx.tail.append(localctx._expressionTail)
                self.state = 521
                self._errHandler.sync(self)
                _la = self._input.LA(1)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ExpressionTailContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.operator = None # Token
            self.term_ = None # ExpressionTermContext

        def expressionTerm(self):
            return self.getTypedRuleContext(PtxParser.ExpressionTermContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_expressionTail




    def expressionTail(self):

        localctx = PtxParser.ExpressionTailContext(self, self._ctx, self.state)
        self.enterRule(localctx, 42, self.RULE_expressionTail)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 522
            localctx.operator = self._input.LT(1)
            _la = self._input.LA(1)
            if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 2190433345536) != 0)):
                localctx.operator = self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
            self.state = 523
            localctx.term_ = self.expressionTerm()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ExpressionTermContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.sign = None # Token
            self.of = None # Token
            self.masked = None # ExpressionContext
            self.name = None # Token
            self.inner = None # ExpressionContext
            self.nested = None # ExpressionContext

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def FLOAT(self):
            return self.getToken(PtxParser.FLOAT, 0)

        def STRING(self):
            return self.getToken(PtxParser.STRING, 0)

        def expression(self):
            return self.getTypedRuleContext(PtxParser.ExpressionContext,0)


        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def getRuleIndex(self):
            return PtxParser.RULE_expressionTerm




    def expressionTerm(self):

        localctx = PtxParser.ExpressionTermContext(self, self._ctx, self.state)
        self.enterRule(localctx, 44, self.RULE_expressionTerm)
        self._la = 0 # Token type
        try:
            self.state = 546
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [13, 14, 25, 41, 46, 47, 48]:
                self.enterOuterAlt(localctx, 1)
                self.state = 526
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 2199056834560) != 0):
                    self.state = 525
                    localctx.sign = self._input.LT(1)
                    _la = self._input.LA(1)
                    if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 2199056834560) != 0)):
                        localctx.sign = self._errHandler.recoverInline(self)
                    else:
                        self._errHandler.reportMatch(self)
                        self.consume()


                self.state = 528
                localctx.of = self._input.LT(1)
                _la = self._input.LA(1)
                if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 492581209243648) != 0)):
                    localctx.of = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                self.state = 533
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==16:
                    self.state = 529
                    self.match(PtxParser.T__15)
                    self.state = 530
                    localctx.masked = self.expression()
                    self.state = 531
                    self.match(PtxParser.T__16)


                pass
            elif token in [44]:
                self.enterOuterAlt(localctx, 2)
                self.state = 535
                localctx.name = self.match(PtxParser.NAME)
                self.state = 540
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==16:
                    self.state = 536
                    self.match(PtxParser.T__15)
                    self.state = 537
                    localctx.inner = self.expression()
                    self.state = 538
                    self.match(PtxParser.T__16)


                pass
            elif token in [16]:
                self.enterOuterAlt(localctx, 3)
                self.state = 542
                self.match(PtxParser.T__15)
                self.state = 543
                localctx.nested = self.expression()
                self.state = 544
                self.match(PtxParser.T__16)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx





